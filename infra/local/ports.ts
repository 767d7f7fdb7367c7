import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port nobody listens on now. Another process may take it before we do; then listening on it fails. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error('there is no free port');
  return port;
}

/** @returns the port, or for 0 one that the system chose; undefined when someone listens on it. */
export async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}
