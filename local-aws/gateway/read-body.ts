import type { IncomingMessage } from 'node:http';

/** What a client may still send after it was refused. */
const DRAIN_MAX_BYTES = 64 * 1024 * 1024;

/**
 * The whole body of a request, or `too-large` as soon as it is longer than `maxBytes`.
 * @throws Error when the client goes away.
 */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | 'too-large'> {
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) return 'too-large';
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return 'too-large';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads and forgets what is left of a body, so that a client which only listens once it has sent everything gets its answer.
 * @returns false when the client went away, or had to be cut off.
 */
export async function drain(message: IncomingMessage): Promise<boolean> {
  let left = DRAIN_MAX_BYTES;
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: true }) as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) return false;
    }
    return true;
  } catch {
    return false;
  }
}
