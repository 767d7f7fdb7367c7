import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { freePort, startListening } from './ports.ts';

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

/** Listens on 127.0.0.1. @param port  0 takes a free one. @throws Error when the port is in use. */
export async function listen(server: Server, port = 0): Promise<Listening> {
  await startListening(server, port, '127.0.0.1');
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
 * Listens on both addresses of `localhost`. Most programs try `::1` first, and would reach another server if one listened there.
 * @param port  0 takes a free one. @throws Error when the port is in use.
 */
export async function listenOnLocalhost(server: Server, port: number): Promise<Listening> {
  const onIpv4 = await listen(server, port || (await freePort()));
  const options = { allowHalfOpen: true, noDelay: true };
  const onIpv6 = createTcpServer(options, (socket) => server.emit('connection', socket));
  try {
    await startListening(onIpv6, onIpv4.port, '::1');
  } catch (error) {
    await onIpv4.close();
    throw error;
  }
  return {
    port: onIpv4.port,
    async close() {
      // Its connections belong to the other server, which ends them.
      onIpv6.close();
      await onIpv4.close();
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
