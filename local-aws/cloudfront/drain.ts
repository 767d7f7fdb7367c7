import type { IncomingMessage } from 'node:http';

const DRAIN_MAX_BYTES = 256 * 1024 * 1024;
const DRAIN_MAX_MILLISECONDS = 30_000;

/**
 * Reads and forgets what a viewer still sends after it got its answer: many clients read nothing before they have sent
 * everything. Past the bounds the connection is cut. What CloudFront does is not documented.
 * @returns once nothing more comes.
 */
export function drain(body: IncomingMessage, maxBytes = DRAIN_MAX_BYTES): Promise<void> {
  if (body.complete || body.destroyed) return Promise.resolve();
  let left = maxBytes;
  const timer = setTimeout(() => body.destroy(), DRAIN_MAX_MILLISECONDS);
  timer.unref();
  body.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
  body.once('error', () => {});
  // A body that was being piped elsewhere stands still since then.
  body.resume();
  return new Promise((resolve) => {
    body.once('end', resolve);
    body.once('close', resolve);
  }).then(() => clearTimeout(timer));
}
