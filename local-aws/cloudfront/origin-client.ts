import { createHash, createHmac } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http';
import type { Origin } from './distribution.ts';
import { type HeaderMap, headersForNode, headersFromRaw, removeHopByHop } from './header-map.ts';
import type { OriginRequest } from './origin-request.ts';

/** With what CloudFront signs for an origin access control. */
export interface OriginCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

const EMPTY_HASH = createHash('sha256').digest('hex');

/**
 * Adds an AWS Signature Version 4 for S3 in place of whatever `Authorization` there was. A body is not hashed: it streams.
 * Source: S3 API Reference, "Signature Calculations for the Authorization Header".
 */
export function signForS3(request: OriginRequest, credentials: OriginCredentials, hasBody: boolean, now: Date): void {
  const { headers } = request;
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${credentials.region}/s3/aws4_request`;
  const payloadHash = hasBody ? 'UNSIGNED-PAYLOAD' : EMPTY_HASH;
  headers.set('x-amz-date', [time]);
  headers.set('x-amz-content-sha256', [payloadHash]);
  headers.delete('x-amz-security-token');
  if (credentials.sessionToken) headers.set('x-amz-security-token', [credentials.sessionToken]);

  const signed = [...headers.keys()].filter((name) => name === 'host' || name.startsWith('x-amz-')).sort();
  const canonical = [
    request.method,
    ...canonicalTarget(request.target),
    canonicalHeaders(headers, signed),
    signed.join(';'),
    payloadHash,
  ];
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical.join('\n')).digest('hex')];
  const key = [time.slice(0, 8), credentials.region, 's3', 'aws4_request'].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${credentials.secretAccessKey}`),
  );
  const signature = hmac(key, toSign.join('\n')).toString('hex');
  headers.set('authorization', [
    `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed.join(';')}, Signature=${signature}`,
  ]);
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonicalHeaders(headers: HeaderMap, signed: readonly string[]): string {
  return signed.map((name) => `${name}:${(headers.get(name) ?? []).map((value) => value.trim()).join(',')}\n`).join('');
}

/** S3 encodes each path segment once, and sorts the query by encoded name. */
function canonicalTarget(target: string): [path: string, query: string] {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const parameters = query.split('&').filter((parameter) => parameter !== '');
  return [
    path.split('/').map(reencode).join('/'),
    parameters
      .map((parameter) => parameter.split(/=(.*)/s))
      .map(([name = '', value = '']) => `${reencode(name)}=${reencode(value)}`)
      .sort()
      .join('&'),
  ];
}

function reencode(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // Not percent-encoded UTF-8: the signature is then of the text as it stands, which S3 refuses in its own way.
  }
  return encodeURIComponent(decoded).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Where the server that stands in for an origin's domain name listens. */
export interface OriginAddress {
  readonly port: number;
  /** Needed when the origin has an origin access control. */
  readonly sign?: OriginCredentials;
}

export interface OriginAnswer {
  readonly status: number;
  /** Without hop-by-hop headers. */
  readonly headers: HeaderMap;
  readonly body: IncomingMessage;
}

/** The origin gave no answer; `status` is the one CloudFront then makes itself. */
export class OriginFailure extends Error {
  readonly status: 502 | 504;

  constructor(status: 502 | 504, cause: unknown) {
    super(status === 504 ? 'the origin did not answer in time' : 'the origin cannot be reached', { cause });
    this.status = status;
  }
}

export interface OriginClient {
  /**
   * Sends a request and gives the answer as soon as its head is there. A body is forwarded with the origin's pace; what is
   * left of it when the answer comes first stays unread, for the caller to drain.
   * @throws OriginFailure
   */
  send(origin: Origin, request: OriginRequest, body?: IncomingMessage): Promise<OriginAnswer>;
  close(): void;
}

export function originClient(resolveOrigin: (domainName: string) => OriginAddress, now: () => Date): OriginClient {
  const kept = new Agent({ keepAlive: true, keepAliveMsecs: 1_000, maxFreeSockets: 64 });
  const start = (origin: Origin, request: OriginRequest, hasBody: boolean, agent: Agent | false): ClientRequest => {
    const address = resolveOrigin(origin.domainName);
    sign(origin, request, address, hasBody, now());
    return sendRequest({
      host: '127.0.0.1',
      port: address.port,
      method: request.method,
      path: request.target,
      // Never "close": an origin that answers early and then closes would take its own answer away by a reset.
      headers: { ...headersForNode(request.headers), connection: 'keep-alive' },
      agent,
      setHost: false,
    });
  };
  return {
    async send(origin, request, body) {
      const timeoutSeconds = origin.readTimeoutSeconds;
      // A body cannot be sent twice, so it never meets a kept connection that the origin is just closing.
      const out = start(origin, request, body !== undefined, body ? false : kept);
      try {
        return await exchange(out, { body, timeoutSeconds });
      } catch (error) {
        const isStale = !body && out.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
        if (isStale) return await exchange(start(origin, request, false, false), { timeoutSeconds });
        throw error;
      }
    },
    close: () => kept.destroy(),
  };
}

/** Sends what is to be sent and waits for the head of the answer. */
function exchange(
  out: ClientRequest,
  { body, timeoutSeconds }: { body?: IncomingMessage | undefined; timeoutSeconds: number },
): Promise<OriginAnswer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    // Counts silence, in both directions, until the answer starts; a slow viewer may take its time after that.
    out.setTimeout(timeoutSeconds * 1_000, () => {
      if (!isAnswered) out.destroy(new OriginFailure(504, undefined));
    });
    out.on('response', (answer) => {
      isAnswered = true;
      body?.unpipe(out);
      // Ends an exchange whose body was not taken to its end.
      if (body) answer.once('close', () => out.destroy());
      const headers = headersFromRaw(answer.rawHeaders);
      removeHopByHop(headers);
      resolve({ status: answer.statusCode ?? 502, headers, body: answer });
    });
    out.on('error', (error) => {
      body?.unpipe(out);
      reject(error instanceof OriginFailure ? error : new OriginFailure(502, error));
    });
    if (body) forward(body, out);
    else out.end();
  });
}

function forward(body: IncomingMessage, out: ClientRequest): void {
  // The origin sees the request before its first byte; Node alone would wait for it.
  out.flushHeaders();
  body.pipe(out);
  // The viewer went away: the origin has to see a body that is cut, not one that waits.
  body.once('close', () => {
    if (!body.complete) out.destroy();
  });
}

function codeOf(error: unknown): string {
  const cause = error instanceof OriginFailure ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code ?? '';
}

function sign(origin: Origin, request: OriginRequest, { sign }: OriginAddress, hasBody: boolean, now: Date): void {
  if (!origin.signing) return;
  if (origin.signing === 'no-override' && request.headers.has('authorization')) return;
  if (!sign) throw new Error(`the origin ${origin.id} has an origin access control, and no credentials to sign with`);
  signForS3(request, sign, hasBody, now);
}
