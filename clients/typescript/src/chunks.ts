/** The network gets this many bytes at a time, so the progress is accurate to this many bytes. */
export const PIECE_BYTES = 64 * 1024;

/** The chunks of a stream; needed because Safari's streams are not iterable. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
