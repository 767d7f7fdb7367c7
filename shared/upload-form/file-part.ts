import { clientFileName, type NameEncoder } from './client-file-name.ts';
import { headerParameters } from './header-parameters.ts';
import { invalidForm } from './invalid-form.ts';

/** What a file part says of its file. */
export interface FileDescription {
  /** Decoded, as the client sent it: it may hold a path, control characters, anything. Absent when it sent none. */
  readonly filename: string | undefined;
  /** As the client sent it, not checked. */
  readonly contentType: string | undefined;
}

/** A part that may be the file of its form. */
export interface PartDescription extends FileDescription {
  /** Whether its bytes are not those of the file, but an encoding of them. */
  readonly isEncoded: boolean;
}

/**
 * What a part says that may be a file; undefined when it is a plain field. It may be a file with `filename` or `filename*`,
 * even empty, or with a `Content-Type` other than `text/plain`.
 * @throws ApiError `invalid_request` for `multipart/mixed`, the old way to send several files as one part (RFC 7578, 4.3):
 * they would be stored as one file, or be lost as a field.
 */
export function describePart(headers: Map<string, string>, boundary: string): PartDescription | undefined {
  const disposition = headerParameters(headers.get('content-disposition') ?? '');
  const contentType = headers.get('content-type') || undefined;
  const isNamed = disposition.has('filename') || disposition.has('filename*');
  if (!isNamed && (contentType === undefined || isOfType('text/plain', contentType))) return undefined;
  if (isOfType('multipart/mixed', contentType)) throw invalidForm('a part is a form of its own');
  return {
    filename: isNamed ? clientFileName(disposition, nameEncoder(headers, boundary)) : undefined,
    contentType,
    isEncoded: isEncoded(headers),
  };
}

function isOfType(type: string, contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === type;
}

/**
 * RFC 7578, section 4.7, deprecates both encodings, and they cannot be told from a file that happens to look like one. Any
 * other value (`binary`, `8bit`, `7bit`) means the bytes as they are.
 */
function isEncoded(headers: Map<string, string>): boolean {
  if (/^(?:base64|quoted-printable)$/i.test(headers.get('content-transfer-encoding') ?? '')) return true;
  return !/^(?:identity)?$/i.test(headers.get('content-encoding') ?? '');
}

/** The 32 hex digits of a random UUID, version 4. */
const UUID_BOUNDARY = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
/** Source: needle 3.5.0, needle.js. */
const NEEDLE_BOUNDARY = '--------------------NODENEEDLEHTTPCLIENT';

/**
 * How the client that sent the part percent-encodes all of `filename`; undefined when it does not. A browser sends a file
 * called `a%20b.txt` as such, so the value alone cannot tell, but two clients can be known:
 * - needle by its boundary, which is always the same;
 * - aiohttp, because no other client known to us both has a random UUID for its boundary and puts `Content-Type` before
 *   `Content-Disposition`. Source: aiohttp 3.14.5, multipart.py and helpers.py.
 */
function nameEncoder(headers: Map<string, string>, boundary: string): NameEncoder | undefined {
  if (boundary === NEEDLE_BOUNDARY) return encodeURIComponent;
  const order = [...headers.keys()].filter((name) => name === 'content-type' || name === 'content-disposition');
  return UUID_BOUNDARY.test(boundary) && order[0] === 'content-type' ? encodeAllButUnreserved : undefined;
}

/** As Python's `urllib.parse.quote` with nothing declared safe. */
function encodeAllButUnreserved(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
