import { randomFillSync } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { retryWhileBusy } from '../test/support/lanes.ts';

/** A client in a thread of its own, because the servers that it measures run in the main thread. */

/**
 * The order to the thread: send a form with one file. When the form is answered, the thread posts a message, which holds the
 * error if there is one.
 */
export interface Sending {
  readonly url: string;
  readonly authorization: string;
  readonly fileBytes: number;
}

const CHUNK = randomFillSync(Buffer.alloc(64 * 1024));
const BOUNDARY = 'bench';
const HEAD = Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="bench.bin"\r\n\r\n`);
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

parentPort?.on('message', (sending: Sending) => {
  send(sending).then(
    () => parentPort?.postMessage({}),
    (error) => parentPort?.postMessage({ error: String(error) }),
  );
});

/** On a machine that is busy with other work, the service may answer 503; then the form is sent again. */
async function send(sending: Sending): Promise<void> {
  const { status, body } = await retryWhileBusy(() => sendOnce(sending));
  if (status !== 201) throw new Error(`${sending.url} answered ${status} ${body}`);
}

async function sendOnce({ url, authorization, fileBytes }: Sending): Promise<{ status: number; body: string }> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      authorization,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': HEAD.length + fileBytes + TAIL.length,
    },
  });
  sent.on('response', resolve).on('error', reject);
  sent.write(HEAD);
  for (let left = fileBytes; left > 0; left -= CHUNK.length) {
    if (!sent.write(CHUNK.subarray(0, left))) await new Promise((drained) => sent.once('drain', drained));
  }
  sent.end(TAIL);
  const answer = await answered;
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
