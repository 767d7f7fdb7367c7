import { createHash, randomFillSync } from 'node:crypto';

/** Bytes to send, which can be read several times. */
export interface Content {
  readonly length: number;
  pieces(): Iterable<Uint8Array>;
  /** Hexadecimal. */
  sha256(): string;
}

const PIECE_BYTES = 64 * 1024;
const RANDOM = randomFillSync(Buffer.alloc(1024 * 1024 + 1));

/** Makes content of incompressible bytes without keeping all of it in memory. */
export function randomContent(length: number): Content {
  return content(length, function* () {
    // The random buffer is one byte longer than a MiB, so no two MiB of the content are equal.
    for (let at = 0; at < length; ) {
      const from = at % RANDOM.length;
      const piece = RANDOM.subarray(from, Math.min(from + PIECE_BYTES, RANDOM.length, from + length - at));
      yield piece;
      at += piece.length;
    }
  });
}

/** Concatenates contents. */
export function joined(...parts: readonly (Content | string)[]): Content {
  const contents = parts.map((part) => (typeof part === 'string' ? textContent(part) : part));
  const length = contents.reduce((sum, { length }) => sum + length, 0);
  return content(length, function* () {
    for (const part of contents) yield* part.pieces();
  });
}

export function textContent(text: string): Content {
  const bytes = Buffer.from(text);
  return content(bytes.length, () => [bytes]);
}

function content(length: number, pieces: () => Iterable<Uint8Array>): Content {
  return {
    length,
    pieces,
    sha256() {
      const hash = createHash('sha256');
      for (const piece of pieces()) hash.update(piece);
      return hash.digest('hex');
    },
  };
}
