import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type HeaderMap, header, headersFromRaw } from './header-map.ts';

/** A request from a viewer, or as a function rewrote it. */
export interface ViewerRequest {
  readonly id: string;
  readonly method: string;
  /** The raw path, still percent-encoded. */
  readonly path: string;
  /** The raw query without `?`; empty when there is none. */
  readonly query: string;
  readonly headers: HeaderMap;
  readonly ip: string;
  /** The body; absent when the request has none. */
  readonly body?: IncomingMessage;
}

/** The `X-Amz-Cf-Id` of a request. */
export const newRequestId = () => randomBytes(42).toString('base64url');

/** @returns undefined when the request has no path or no host. */
export function readViewerRequest(message: IncomingMessage): ViewerRequest | undefined {
  const target = pathAndQuery(message.url ?? '');
  if (target === undefined || !message.headers.host) return undefined;
  const headers = headersFromRaw(message.rawHeaders);
  const hasBody = headers.has('transfer-encoding') || Number(header(headers, 'content-length') ?? 0) > 0;
  const question = target.indexOf('?');
  return {
    id: newRequestId(),
    method: message.method ?? '',
    path: question === -1 ? target : target.slice(0, question),
    query: question === -1 ? '' : target.slice(question + 1),
    headers,
    ip: (message.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    ...(hasBody && { body: message }),
  };
}

/** A client may send the whole URL, as to a proxy (RFC 9112, 3.2.2). */
function pathAndQuery(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(target)?.[1];
  if (absolute === undefined) return undefined;
  return absolute.startsWith('/') ? absolute : `/${absolute}`;
}
