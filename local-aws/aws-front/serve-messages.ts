import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Listening, listen } from '../host/http-server.ts';
import type { NoReply } from './answer.ts';
import { ClientGone, type Message, type Reply } from './message.ts';

/** Answers HTTP requests by a function of messages. @param port  0 takes a free one. */
export function serveMessages(
  port: number,
  answer: (message: Message) => Promise<Reply | NoReply>,
): Promise<Listening> {
  const serve = (request: IncomingMessage, response: ServerResponse, waits: boolean) => {
    // A client that leaves in the middle of its body must not end the process.
    response.on('error', () => {});
    respond(request, response, waits, answer).catch(() => request.socket.destroy());
  };
  const server = createServer((request, response) => serve(request, response, false));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  // Idle connections are never closed here. If one were closed just when an SDK sends a call over it, that attempt would fail.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  return listen(server, port);
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  waits: boolean,
  answer: (message: Message) => Promise<Reply | NoReply>,
): Promise<void> {
  let isInvited = !waits;
  async function* read(): AsyncGenerator<Buffer> {
    if (!isInvited) response.writeContinue();
    isInvited = true;
    // A small body mostly comes in one packet with the head, and after this `await` Node has read all of it. An iterator would then
    // cost more than one read.
    await null;
    if (request.readableLength > 0 && request.readableLength === Number(request.headers['content-length'])) {
      yield request.read();
      return;
    }
    try {
      // A reader that stops early must not end the connection: the client has yet to read the reason.
      yield* request.iterator({ destroyOnReturn: false });
    } catch (error) {
      throw new ClientGone(error);
    }
  }
  const body = read();
  const { method = '', url = '', headers } = request;
  const reply = await answer({ method, url, headers, body });
  if (reply === 'silence') return;
  if (reply === 'cut') {
    request.socket.destroy();
    return;
  }
  // A client that still waits for 100 Continue sends no body. Its next request could be taken for the body, so the connection is closed.
  await write(response, reply, isInvited ? {} : { connection: 'close' });
  // The unread rest of the body is read and discarded, so that the client reads the answer and can go on. A reader of the body may
  // still wait for the next bytes, so the answer does not wait for that reader.
  if (isInvited) body.return(undefined).then(() => request.resume());
}

async function write(response: ServerResponse, reply: Reply, extra: Record<string, string>): Promise<void> {
  const { status, headers, body } = reply;
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const length = isText ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  // Node would keep the text for a second. If the clock steps meanwhile, SDKs would sign their next calls by the former time.
  const date = new Date().toUTCString();
  response.writeHead(status, { date, ...length, ...headers, ...extra });
  if (body instanceof Readable) await pipeline(body, response);
  else response.end(body);
}
