/**
 * The size of every part except the last, which may be smaller. S3 takes no smaller parts before the last one. An upload holds two parts in
 * memory. S3 takes 10,000 parts, more than the largest `MAX_UPLOAD_SIZE_BYTES` needs. Source: S3 User Guide, "Multipart upload limits".
 */
export const PART_BYTES = 5 * 1024 * 1024;

export interface Part {
  /** Valid until the part after the next one is read: two buffers take turns. */
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/**
 * Cuts content into parts of `partBytes`; the last one may be smaller. Empty content is one empty part. Content of exactly `partBytes` is
 * one part, without an empty one after it: a part is yielded only when it is known whether another follows.
 */
export async function* inParts(content: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Part, void> {
  let buffer: Buffer = Buffer.alloc(0);
  let other: Buffer | undefined;
  let filled = 0;
  for await (const chunk of content) {
    for (let offset = 0; offset < chunk.length; ) {
      if (filled === partBytes) {
        yield { bytes: buffer, isLast: false };
        other ??= Buffer.allocUnsafeSlow(partBytes);
        [buffer, other] = [other, buffer];
        filled = 0;
      }
      const piece = chunk.subarray(offset, offset + partBytes - filled);
      buffer = withRoomFor(filled + piece.length, buffer, partBytes);
      buffer.set(piece, filled);
      filled += piece.length;
      offset += piece.length;
    }
  }
  yield { bytes: buffer.subarray(0, filled), isLast: true };
}

/** The first size of a buffer. Most content is short: with memory for a whole part each time, garbage collection would run often. */
const SMALLEST_BYTES = 64 * 1024;

/** @returns the buffer, or a larger one that begins with its content: at least twice as large, and no larger than a part. */
function withRoomFor(bytes: number, buffer: Buffer, partBytes: number): Buffer {
  if (bytes <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.min(partBytes, Math.max(bytes, 2 * buffer.length, SMALLEST_BYTES)));
  larger.set(buffer);
  return larger;
}

const MIB = 1024 * 1024;

/** S3 copies a larger object in parts of this size, and an object of this size or less by one call. */
export const COPY_PART_BYTES = 32 * MIB;
/** This many parts of one object are copied at the same time. */
export const COPIES_AT_ONCE = 24;
/** We assume that one call copies at least this much in a second (decision 0022). */
const COPY_BYTES_PER_SECOND = 16 * MIB;

/** How long the copy of an object may take, in whole milliseconds: at most 2 s up to 768 MiB, 14 s for 5,000 MiB. */
export function copyMs(sizeBytes: number): number {
  const rounds = Math.ceil(Math.ceil(sizeBytes / COPY_PART_BYTES) / COPIES_AT_ONCE);
  return Math.ceil((Math.min(sizeBytes, rounds * COPY_PART_BYTES) * 1_000) / COPY_BYTES_PER_SECOND);
}
