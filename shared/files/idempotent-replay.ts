import { ApiError } from '../errors.ts';
import type { StoredFile } from './file.ts';
import type { IdempotencyRecord } from './idempotency-store.ts';

/** @throws ApiError `idempotency_conflict` when the key stands for another file. */
export function checkFingerprint(earlier: IdempotencyRecord, fingerprint: string): void {
  if (earlier.fingerprint !== fingerprint) throw new ApiError('idempotency_conflict');
}

/**
 * The file a multipart upload with a used key is answered with, even if it was deleted since.
 * @throws ApiError `idempotency_conflict` when the key stands for another file, or for a ticket.
 */
export function replay(earlier: IdempotencyRecord, fingerprint: string): StoredFile {
  checkFingerprint(earlier, fingerprint);
  if (!earlier.file) throw new ApiError('idempotency_conflict');
  return earlier.file;
}
