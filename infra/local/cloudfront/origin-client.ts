import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { type HeaderMap, headersForNode, headersFromRaw, removeHopByHop } from './header-map.ts';
import type { OriginRequest } from './origin-request.ts';
import type { Origin } from './origins.ts';
import { type OriginCredentials, signForS3 } from './sign-request.ts';

/** Where the server that stands in for an origin's domain name listens. */
export interface OriginAddress {
  readonly host: string;
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
  const sendOnce = (origin: Origin, request: OriginRequest, body: IncomingMessage | undefined, retry: boolean) =>
    new Promise<OriginAnswer>((resolve, reject) => {
      const address = resolveOrigin(origin.domainName);
      sign(origin, request, address, body !== undefined, now());
      const out = sendRequest({
        host: address.host,
        port: address.port,
        method: request.method,
        path: request.target,
        // Never "close": an origin that answers early and then closes would take its own answer away by a reset.
        headers: { ...headersForNode(request.headers), connection: 'keep-alive' },
        // A body cannot be sent twice, so it never meets a kept connection that the origin is just closing.
        agent: body ? false : kept,
        setHost: false,
      });
      let answered = false;
      // Counts silence, in both directions, until the answer starts; a slow viewer may take its time after that.
      out.setTimeout(origin.readTimeoutSeconds * 1_000, () => {
        if (!answered) out.destroy(new OriginFailure(504, undefined));
      });
      out.on('response', (answer) => {
        answered = true;
        body?.unpipe(out);
        const headers = headersFromRaw(answer.rawHeaders);
        removeHopByHop(headers);
        // Ends an exchange whose body was not taken to its end; a kept connection is not touched by this.
        if (body) answer.once('close', () => out.destroy());
        resolve({ status: answer.statusCode ?? 502, headers, body: answer });
      });
      out.on('error', (error) => {
        body?.unpipe(out);
        const isStale =
          out.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
        if (isStale && retry) resolve(sendOnce(origin, request, undefined, false));
        else reject(error instanceof OriginFailure ? error : new OriginFailure(502, error));
      });
      if (!body) {
        out.end();
        return;
      }
      body.pipe(out);
      // The viewer went away: the origin has to see a body that is cut, not one that waits.
      body.once('close', () => {
        if (!body.complete) out.destroy();
      });
    });

  return {
    send: (origin, request, body) => sendOnce(origin, request, body, body === undefined),
    close: () => kept.destroy(),
  };
}

function sign(origin: Origin, request: OriginRequest, { sign }: OriginAddress, hasBody: boolean, now: Date): void {
  if (!origin.signing) return;
  if (origin.signing === 'no-override' && request.headers.has('authorization')) return;
  if (!sign) throw new Error(`the origin ${origin.id} has an origin access control, and no credentials to sign with`);
  signForS3(request, sign, hasBody, now);
}
