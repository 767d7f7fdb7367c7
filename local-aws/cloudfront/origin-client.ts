import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http';
import type { Readable } from 'node:stream';
import { type Credentials, signRequest } from '../aws-front/signature.ts';
import { type HandleWebRequest, Silence } from '../lambda/web-function-endpoint.ts';
import type { Origin } from './distribution.ts';
import { type HeaderMap, headersForNode, headersFromRaw, removeHopByHop } from './header-map.ts';
import type { OriginRequest } from './origin-request.ts';

/** The local server that stands in for the domain name of an origin. */
export interface OriginAddress {
  readonly port: number;
  /** Handles requests without a connection to the port. Only a Web Function has it. */
  readonly handle?: HandleWebRequest;
  /** Needed when the origin has an origin access control. */
  readonly sign?: Credentials & { readonly region: string };
}

export interface OriginAnswer {
  readonly status: number;
  /** The headers of the answer, without hop-by-hop headers. */
  readonly headers: HeaderMap;
  readonly body: Readable;
}

/** The origin gave no answer. `status` is that of CloudFront's own error. */
export class OriginFailure extends Error {
  readonly status: 502 | 504;

  constructor(status: 502 | 504, cause: unknown) {
    super(status === 504 ? 'the origin did not answer in time' : 'the origin cannot be reached', { cause });
    this.status = status;
  }
}

export interface OriginClient {
  /**
   * Sends a request, and resolves as soon as the head of the answer arrives. A body is forwarded at the pace of the origin.
   * When the answer comes first, the rest of the body stays unread, for the caller to drain.
   * @throws OriginFailure
   */
  send(origin: Origin, request: OriginRequest, body?: IncomingMessage): Promise<OriginAnswer>;
  close(): void;
}

export function originClient(resolveOrigin: (domainName: string) => OriginAddress, now: () => Date): OriginClient {
  const kept = new Agent({ keepAlive: true, keepAliveMsecs: 1_000, maxFreeSockets: 64 });
  const start = async (
    origin: Origin,
    request: OriginRequest,
    { hasBody, agent }: { readonly hasBody: boolean; readonly agent: Agent | false },
  ): Promise<ClientRequest> => {
    const address = resolveOrigin(origin.domainName);
    await sign(origin, request, address.sign, { hasBody, now: now() });
    return sendRequest({
      host: '127.0.0.1',
      port: address.port,
      method: request.method,
      path: request.target,
      // Never "close": an origin that answers early and then closes would destroy its own answer by a reset.
      headers: { ...headersForNode(request.headers), connection: 'keep-alive' },
      agent,
      setHost: false,
    });
  };
  return {
    async send(origin, request, body) {
      const timeoutSeconds = origin.readTimeoutSeconds;
      const { handle } = resolveOrigin(origin.domainName);
      if (handle) return handOver(handle, request, { body, timeoutSeconds });
      const out = await start(origin, request, { hasBody: body !== undefined, agent: kept });
      try {
        return await exchange(out, { body, timeoutSeconds });
      } catch (error) {
        // Only a request without a body is repeated, because a body cannot be sent twice. A request with a body need not be repeated,
        // because the gateway and the endpoints of functions never close an idle connection.
        const isStale = !body && out.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
        if (!isStale) throw error;
        return await exchange(await start(origin, request, { hasBody: false, agent: false }), { timeoutSeconds });
      }
    },
    close: () => kept.destroy(),
  };
}

/** Lets a Web Function handle the request. The answer comes only when the function has read the whole body, or will not read it. */
async function handOver(
  handle: HandleWebRequest,
  { method, target, headers }: OriginRequest,
  { body, timeoutSeconds }: { body: IncomingMessage | undefined; timeoutSeconds: number },
): Promise<OriginAnswer> {
  const gone = new AbortController();
  // When the viewer leaves, the function must see a cut body, not one that pauses.
  body?.once('close', () => {
    if (!body.complete) gone.abort();
  });
  const rawHeaders = [...headers].flatMap(([name, values]) => values.flatMap((value) => [name, value]));
  try {
    const options = { gone: gone.signal, silenceMs: timeoutSeconds * 1_000 };
    const answer = await handle({ method, url: target, rawHeaders }, body, options);
    // If a connection were used, the endpoint would close it after this answer. While the body is still being sent, closing causes a reset,
    // which destroys the answer. So the answer is an error here as well.
    if (answer.isRefusal && body && !body.complete) throw new Error(`the endpoint closed with ${answer.status}`);
    const answerHeaders = headersFromRaw(answer.rawHeaders);
    removeHopByHop(answerHeaders);
    return { status: answer.status, headers: answerHeaders, body: answer.body };
  } catch (error) {
    throw error instanceof Silence ? new OriginFailure(504, undefined) : new OriginFailure(502, error);
  }
}

/** Sends the request and waits for the head of the answer. */
function exchange(
  out: ClientRequest,
  { body, timeoutSeconds }: { body?: IncomingMessage | undefined; timeoutSeconds: number },
): Promise<OriginAnswer> {
  return new Promise((resolve, reject) => {
    let answered: IncomingMessage | undefined;
    // Measures silence in both directions. A slow viewer may take its time: then a part of the answer waits for it.
    // Source: CloudFront Developer Guide, "Response timeout": it also limits the time between two packets of an answer.
    out.setTimeout(timeoutSeconds * 1_000).on('timeout', () => {
      if (!answered) out.destroy(new OriginFailure(504, undefined));
      else if (answered.readableLength === 0) answered.destroy(new OriginFailure(504, undefined));
      else out.setTimeout(timeoutSeconds * 1_000);
    });
    out.on('response', (answer) => {
      answered = answer;
      body?.unpipe(out);
      // When the origin has answered before the end of the request body, the connection cannot be used again.
      if (body) answer.once('close', () => out.writableFinished || out.destroy());
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
  // Node would wait for the first piece of the body before it sends the head. If that piece is not there yet, send the head now. If it
  // is there, head and piece go in one packet.
  if (body.readableLength === 0) out.flushHeaders();
  body.pipe(out);
  // When the viewer leaves, the origin must see a cut body, not one that pauses.
  body.once('close', () => {
    if (!body.complete) out.destroy();
  });
}

function codeOf(error: unknown): string {
  const cause = error instanceof OriginFailure ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code ?? '';
}

/** Signs a request to an origin with an origin access control. @throws Error when there are no credentials to sign with. */
async function sign(
  origin: Origin,
  request: OriginRequest,
  credentials: OriginAddress['sign'],
  { hasBody, now }: { readonly hasBody: boolean; readonly now: Date },
): Promise<void> {
  if (!origin.isSigned) return;
  if (!credentials)
    throw new Error(`the origin ${origin.id} has an origin access control, and no credentials to sign with`);
  await signForS3(request, credentials, { hasBody, now });
}

/**
 * Replaces the `Authorization` of a request by a signature for S3 over the host and the `x-amz-` headers. A body is not
 * hashed, because it streams.
 */
export async function signForS3(
  { method, target, headers }: OriginRequest,
  { region, ...credentials }: NonNullable<OriginAddress['sign']>,
  { hasBody, now }: { readonly hasBody: boolean; readonly now: Date },
): Promise<void> {
  headers.delete('x-amz-security-token');
  const signable = [...headers].filter(([name]) => name === 'host' || name.startsWith('x-amz-'));
  const request = {
    method,
    url: target,
    headers: Object.fromEntries(signable.map(([name, values]) => [name, values.join(',')])),
    ...(hasBody && { payloadHash: 'UNSIGNED-PAYLOAD' }),
  };
  const signed = await signRequest(request, credentials, { region, service: 's3', now });
  for (const [name, value] of Object.entries(signed)) headers.set(name, [value]);
}
