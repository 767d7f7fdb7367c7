import { createHash } from 'node:crypto';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Content } from './content.ts';

/** How a body is sent: with its length; in chunks, without a length; or with its length, after the server's `100 Continue`. */
export type Framing = 'length' | 'chunked' | 'expect';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Content;
  /** `length` by default. */
  readonly framing?: Framing;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; a header sent twice is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most the first 64 KiB of the body. */
  readonly text: string;
  readonly bytes: number;
  /** The hash of the whole body, hexadecimal. */
  readonly sha256: string;
}

/** An exchange is given up after this time without any bytes in either direction. */
const SILENCE_MS = 130_000;
/** How long to wait for `100 Continue`: a client must not wait indefinitely (RFC 9110, 10.1.1). */
const CONTINUE_MS = 3_000;
const TEXT_MAX_BYTES = 64 * 1024;

/**
 * Sends one request without retries, and without following redirects. If the answer arrives before the whole body was sent, the rest of the
 * body is not sent.
 * @throws Error when there is no answer.
 */
export async function exchange(url: string, ask: Ask = {}): Promise<Answer> {
  const { method = 'GET', body, framing = 'length' } = ask;
  const headers: Record<string, string | number> = { ...ask.headers };
  if (body && framing !== 'chunked') headers['content-length'] = body.length;
  if (body && framing === 'expect') headers.expect = '100-continue';
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, { method, headers, agent: false });
  request.setTimeout(SILENCE_MS, () => request.destroy(new Error(`no answer for ${SILENCE_MS / 1_000} s`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject);
  });
  if (body) await Promise.race([sendBody(request, body, framing), answered]);
  else request.end();
  return readAnswer(await answered).finally(() => request.destroy());
}

async function sendBody(request: ClientRequest, body: Content, framing: Framing): Promise<void> {
  if (framing === 'expect') {
    request.flushHeaders();
    await new Promise<void>((resolve) => {
      request.once('continue', resolve);
      setTimeout(resolve, CONTINUE_MS).unref();
    });
  }
  for (const piece of body.pieces()) {
    if (request.destroyed) return;
    if (!request.write(piece)) await writable(request);
  }
  request.end();
}

/** Waits until the request can be written to again, or is closed. */
function writable(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.once('drain', done).once('close', done);
  });
}

async function readAnswer(message: IncomingMessage): Promise<Answer> {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (bytes < TEXT_MAX_BYTES) kept.push(chunk);
    bytes += chunk.length;
  }
  const headers = Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return {
    status: message.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    text: Buffer.concat(kept).subarray(0, TEXT_MAX_BYTES).toString(),
    bytes,
    sha256: hash.digest('hex'),
  };
}
