import type { Lane } from '../../shared/metrics.ts';
import type { Answer, Client } from './client.ts';
import type { TestAccount } from './service.ts';

export interface Ticket {
  readonly id: string;
  readonly upload: { readonly url: string; readonly headers: Record<string, string> };
}

/**
 * Repeats a request while the answer is 503 or 504, ten times at most, as the contract expects of clients: on a machine that is busy with
 * other tests, a call to an engine may take longer than the service waits.
 */
export async function retryWhileBusy<Given extends { readonly status: number }>(
  ask: () => Promise<Given>,
): Promise<Given> {
  for (let tries = 1; ; tries++) {
    const answer = await ask();
    if (!BUSY.has(answer.status) || tries === TRIES_MAX) return answer;
  }
}

const BUSY = new Set([503, 504]);
const TRIES_MAX = 10;

type Uploader = Pick<TestAccount, 'byKey'>;
type Content = string | Uint8Array<ArrayBuffer>;

/** Uploads a form without a `Content-Length`, which the edge routes to the streaming server. */
export async function uploadStreaming(
  { byKey }: Uploader,
  name: string,
  content: Content,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData();
  form.append('file', new File([content], name));
  const { body, headers: made } = new Response(form);
  const type = made.get('content-type') ?? '';
  return byKey.request('POST', '/files', {
    body,
    headers: { ...headers, 'content-type': type },
    duplex: 'half',
  } as RequestInit);
}

export function askForTicket(
  byKey: Client,
  name: string,
  sizeBytes: number,
  headers: Record<string, string> = {},
): Promise<Answer<Ticket>> {
  const request = { name, mime_type: 'application/octet-stream', size_bytes: sizeBytes };
  return byKey.postJson<Ticket>('/uploads', request, headers);
}

/** Sends the bytes of a direct upload. @returns the status of S3's answer. */
export async function put({ upload: { url, headers } }: Ticket, content: Content): Promise<number> {
  const response = await fetch(url, { method: 'PUT', headers, body: content });
  await response.arrayBuffer();
  return response.status;
}

export function complete(byKey: Client, { id }: Pick<Ticket, 'id'>): Promise<Answer> {
  return byKey.request('POST', `/uploads/${id}/complete`);
}

/**
 * Uploads a file through a lane from start to end, and repeats steps that are 503.
 * @returns the answer of the last step: 201, or that of the step that failed.
 * @throws Error when the PUT to S3 fails.
 */
export async function uploadThrough(lane: Lane, account: Uploader, name: string, content: Content): Promise<Answer> {
  if (lane === 'inline') return retryWhileBusy(() => account.byKey.upload(name, content));
  if (lane === 'streaming') return retryWhileBusy(() => uploadStreaming(account, name, content));
  const ticket = await retryWhileBusy(() => askForTicket(account.byKey, name, content.length));
  if (ticket.status !== 202) return ticket as unknown as Answer;
  const status = await put(ticket.body, content);
  if (status !== 200) throw new Error(`the PUT of ${name} was answered ${status}`);
  return retryWhileBusy(() => complete(account.byKey, ticket.body));
}
