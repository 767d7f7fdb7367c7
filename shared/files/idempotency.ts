import { createHash } from 'node:crypto';
import { ApiError } from '../errors.ts';
import type { StoredFile, Via } from './file.ts';
import type { IdempotencyRecord } from './stores.ts';

/**
 * What two requests with the same `Idempotency-Key` must have in common: the file that they describe. Other parts of their forms may
 * differ.
 */
interface Fingerprinted {
  readonly via: Via;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** SHA-256 of the content; for a ticket the checksum that its client gave, if any. */
  readonly checksum: string | undefined;
}

/** @returns SHA-256 in hex. */
export function fingerprint({ via, name, mimeType, sizeBytes, checksum }: Fingerprinted): string {
  // As JSON, two different lists of values never give the same text.
  return createHash('sha256')
    .update(JSON.stringify([via, name, mimeType, sizeBytes, checksum ?? null]))
    .digest('hex');
}

/** @throws ApiError `idempotency_conflict` when the key stands for another file. */
export function checkFingerprint(earlier: IdempotencyRecord, fingerprint: string): void {
  if (earlier.fingerprint !== fingerprint) {
    throw new ApiError('idempotency_conflict', {
      detail: 'the key was used for another file, or for the other kind of upload',
    });
  }
}

/**
 * The file that answers an upload with a used key, even if it was deleted since.
 * @throws ApiError `idempotency_conflict` when the key stands for another file, or for a ticket.
 */
export function replay(earlier: IdempotencyRecord, fingerprint: string): StoredFile {
  checkFingerprint(earlier, fingerprint);
  if (!earlier.file) throw new ApiError('idempotency_conflict', { detail: 'the key was used for a ticket' });
  return earlier.file;
}
