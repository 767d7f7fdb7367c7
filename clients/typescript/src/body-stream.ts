import { chunksOf, PIECE_BYTES } from './chunks.ts';
import type { Fetch } from './fetch-with.ts';
import type { Watch } from './watch.ts';

/**
 * True on Node and Bun. Only on these two, `fetch` sends a stream with the `Content-Length` that we set and that the storage requires. So
 * only these two count the bytes of a Blob while they send it. Node 20 has no navigator.
 */
export const canCountBytes = () => /^(?:Node|Bun)/.test(globalThis.navigator?.userAgent ?? 'Node');

/** True when a body can be sent whose length is not known before its end. Browsers cannot send such a body over HTTP/1.1. */
export const canSendStreams = (using: Fetch | undefined): boolean =>
  using !== undefined || typeof XMLHttpRequest === 'undefined';

/** A stream of the body. Whenever the network asks for more bytes, the stream reports how many bytes the network has taken. */
export function counted(
  body: Blob | AsyncIterable<Uint8Array>,
  watch: Watch,
  onSent: ((bytes: number) => void) | undefined,
): ReadableStream {
  const chunks = piecesOf(body instanceof Blob ? chunksOf(body.stream()) : body);
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Node would read the body of an aborted request to its end.
        if (watch.signal.aborted) {
          chunks.return(undefined).catch(() => {});
          return controller.error(watch.signal.reason);
        }
        try {
          if (sent > 0) onSent?.(sent);
        } catch (thrown) {
          watch.callbackError = { thrown };
          throw thrown;
        }
        watch.stopTimer();
        try {
          const { done, value } = await chunks.next();
          if (done && body instanceof Blob && sent !== body.size)
            throw new Error(`it has ${sent} of ${body.size} bytes`);
          watch.moved();
          if (done) return controller.close();
          sent += value.byteLength;
          controller.enqueue(value);
        } catch (error) {
          watch.unreadable = error;
          throw error;
        }
      },
      cancel: () => void chunks.return(undefined),
    },
    { highWaterMark: 0 },
  );
}

async function* piecesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}
