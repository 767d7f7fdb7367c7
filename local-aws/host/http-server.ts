import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';

/**
 * The pieces of bodies that these servers forward are outside of V8's heap. By default V8 collects garbage in its whole heap after every 64
 * MB of pieces. Most pieces are free already by then. With this flag V8 does so only when the memory in use has grown.
 */
setFlagsFromString('--external-memory-accounted-in-global-limit');

/** A server that listens on the loopback interface, which only this machine can reach. */
export interface Listening {
  readonly port: number;
  /** Ends every connection, even those in use, and resolves once the port is free. */
  close(): Promise<void>;
}

/** @param port  0 takes a free one. @throws Error when the port is in use. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Reads and forgets the rest of a request body once the answer is known. Many clients read nothing before they have sent everything. A
 * client that sends more than the limits allow is cut off.
 * @returns whether the client has sent all of the body, as soon as nothing more comes.
 */
export async function drain(
  body: IncomingMessage,
  { maxBytes, maxMilliseconds }: { readonly maxBytes: number; readonly maxMilliseconds?: number },
): Promise<boolean> {
  if (body.complete || body.destroyed) return body.complete;
  let bytesLeft = maxBytes;
  const timer = maxMilliseconds === undefined ? undefined : setTimeout(() => body.destroy(), maxMilliseconds).unref();
  body.on('data', (chunk: Buffer) => {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) body.destroy();
  });
  body.once('error', () => {});
  // If the body was piped elsewhere before, it was paused when that pipe ended.
  body.resume();
  await new Promise<void>((resolve) => {
    body.once('end', resolve);
    body.once('close', resolve);
  });
  clearTimeout(timer);
  return body.complete;
}
