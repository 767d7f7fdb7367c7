import { ApiError } from '../errors.ts';
import { cleanFileName } from './file-name.ts';
import { mediaType } from './media-type.ts';

/** The file a client wants to put into the bucket itself. */
export interface TicketRequest {
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Base64 of the 32 bytes of its SHA-256; S3 checks it. */
  readonly checksumSha256?: string;
}

/** 32 bytes in base64: the last of 43 digits carries four bits, so its two lowest are zero. */
const SHA256_BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Reads the body `{name, mime_type, size_bytes, checksum_sha256?}`; other members are ignored. Name and type are treated
 * as those of a form's part.
 * @throws ApiError `invalid_request`, `file_too_large`.
 */
export function parseTicketRequest(body: Readonly<Record<string, unknown>>, maxBytes: number): TicketRequest {
  const { name, mime_type: declaredType, size_bytes: sizeBytes, checksum_sha256: checksumSha256 } = body;
  if (typeof name !== 'string' || typeof declaredType !== 'string') throw new ApiError('invalid_request');
  if (typeof sizeBytes !== 'number' || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new ApiError('invalid_request');
  }
  if (checksumSha256 !== undefined && !(typeof checksumSha256 === 'string' && SHA256_BASE64.test(checksumSha256))) {
    throw new ApiError('invalid_request');
  }
  if (sizeBytes > maxBytes) throw new ApiError('file_too_large');
  const mimeType = mediaType(declaredType, name);
  return {
    name: cleanFileName(name, mimeType),
    mimeType,
    sizeBytes,
    ...(checksumSha256 !== undefined && { checksumSha256 }),
  };
}
