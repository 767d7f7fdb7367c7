import { appUrl, readSecretParameter } from '../../shared/aws/parameters.ts';
import { required } from '../../shared/env.ts';

/** Longer than any step takes in a healthy service, even with cold starts. A slower answer is a failure. */
const STEP_MS = 10_000;
export const CONTENT = 'canary';
const BOUNDARY = 'canary-boundary';
export const FORM = [
  `--${BOUNDARY}`,
  'Content-Disposition: form-data; name="file"; filename="canary.txt"',
  'Content-Type: text/plain',
  '',
  CONTENT,
  `--${BOUNDARY}--`,
  '',
].join('\r\n');

/** The service as a client sees it, through its public address. */
export interface Service {
  readonly appUrl: string;
  readonly key: string;
}

export interface StoredFile {
  readonly id: string;
  readonly url: string;
  readonly created_at: string;
}

/** @returns the service, with the key of the canary; undefined while the operator has not given the canary a key. */
export async function openService(): Promise<Service | undefined> {
  const key = await readSecretParameter(required('CANARY_KEY_PARAMETER'));
  return key === undefined ? undefined : { appUrl: await appUrl(), key };
}

/** Uploads the file of the canary by a form. @param init  the body, with {@link FORM} in it. */
export function upload(service: Service, init: RequestInit): Promise<StoredFile> {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  return api<StoredFile>(service, 'POST', '/files', 201, { ...init, headers });
}

/**
 * Sends a request to the API, with the key of the canary. @returns the JSON of the answer. @throws WrongAnswer when it has another status.
 */
export async function api<Body>(
  { appUrl, key }: Service,
  method: string,
  path: string,
  status: number,
  { headers, ...init }: RequestInit = {},
): Promise<Body> {
  const authorization = `Bearer ${key}`;
  const text = await ask(
    `${appUrl}/api/v1${path}`,
    { ...init, method, headers: { ...headers, authorization } },
    status,
  );
  return JSON.parse(text) as Body;
}

/** An answer with another status than a healthy service gives. */
export class WrongAnswer extends Error {
  readonly status: number;
  /** Whether the limiter of the service has counted the request. The gateway and the firewall answer before it. */
  readonly wasCounted: boolean;

  constructor(message: string, { status, headers }: Response) {
    super(message);
    this.name = 'WrongAnswer';
    this.status = status;
    this.wasCounted = headers.has('ratelimit');
  }
}

/** @returns the text of the answer. @throws WrongAnswer naming the request id when it has another status. */
export async function ask(url: string, init: RequestInit, status: number): Promise<string> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(STEP_MS) });
  const text = await answer.text();
  if (answer.status === status) return text;
  const id = answer.headers.get('x-request-id') ?? answer.headers.get('x-amz-cf-id');
  throw new WrongAnswer(
    `${init.method ?? 'GET'} ${new URL(url).pathname.split('/')[1]}: ${answer.status} ${text.slice(0, 200)} (request ${id})`,
    answer,
  );
}
