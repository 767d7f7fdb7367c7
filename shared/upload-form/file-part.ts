import { clientFileName } from './client-file-name.ts';
import { headerParameters } from './header-parameters.ts';

/** What a file part says of its file. */
export interface FileDescription {
  /** Decoded, as the client sent it: it may hold a path, control characters, anything. Absent when it sent none. */
  readonly filename: string | undefined;
  /** As the client sent it, not checked. */
  readonly contentType: string | undefined;
}

/**
 * What a part says that may be a file; undefined when it is a plain field. It may be a file with `filename` or `filename*`,
 * even empty, or with a `Content-Type` other than `text/plain`.
 */
export function describePart(headers: Map<string, string>, boundary: string): FileDescription | undefined {
  const disposition = headerParameters(headers.get('content-disposition') ?? '');
  const contentType = headers.get('content-type') || undefined;
  const isNamed = disposition.has('filename') || disposition.has('filename*');
  if (!isNamed && (contentType === undefined || /^text\/plain[ \t]*(?:;|$)/i.test(contentType))) return undefined;
  return { filename: isNamed ? clientFileName(disposition, isFromAiohttp(headers, boundary)) : undefined, contentType };
}

/** The 32 hex digits of a random UUID, version 4. */
const UUID_BOUNDARY = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

/**
 * aiohttp percent-encodes all of `filename`, where a browser would send a file called `a%20b.txt` in the same way, so the
 * value alone cannot tell. But no other client known to us both has a random UUID for its boundary and puts
 * `Content-Type` before `Content-Disposition`. Source: aiohttp 3.14.5, multipart.py and helpers.py.
 */
function isFromAiohttp(headers: Map<string, string>, boundary: string): boolean {
  const order = [...headers.keys()].filter((name) => name === 'content-type' || name === 'content-disposition');
  return UUID_BOUNDARY.test(boundary) && order[0] === 'content-type';
}
