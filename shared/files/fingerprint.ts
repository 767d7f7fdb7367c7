import { createHash } from 'node:crypto';

/** What two requests with one `Idempotency-Key` must agree in: the file they ask for, not the bytes of their bodies. */
export interface Fingerprinted {
  readonly lane: 'multipart' | 'direct';
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** SHA-256 of the content; of a ticket the checksum its client gave, if any. */
  readonly checksum: string | undefined;
}

/** @returns SHA-256 in hex. */
export function fingerprint({ lane, name, mimeType, sizeBytes, checksum }: Fingerprinted): string {
  // JSON, so that no two different lists of values can give the same text.
  return createHash('sha256')
    .update(JSON.stringify([lane, name, mimeType, sizeBytes, checksum ?? null]))
    .digest('hex');
}
