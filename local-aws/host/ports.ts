import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** The ports of the servers. All listen on the loopback interface. */
interface Ports {
  readonly app: number;
  readonly cdn: number;
  readonly identityProvider: number;
  readonly aws: number;
}

/**
 * Chooses the ports, and stores the choice in `dataDir`, so that links stay valid.
 * @param app  the port of the app's distribution; 0 takes free ports for all.
 * @throws Error in one sentence when that port or the kept port of the identity provider cannot be used. The provider's address is part of the
 *   identity of every account, so with another address users would not find their files.
 */
export async function choosePorts(app: number, dataDir: string): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const kept = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Partial<Ports>;
  const chosen = new Set<number>();
  const choose = async (preferred: number): Promise<number> => {
    // After the highest port comes any other.
    const next = async (port: number) => (port > 0 && port <= HIGHEST ? port : await freePort());
    let port = await next(preferred);
    while (chosen.has(port) || (await whyUnusable(port)) !== undefined) port = await next(port + 1);
    chosen.add(port);
    return port;
  };

  await requireFreePort(app);
  const appPort = await choose(app);
  const near = (distance: number) => (app === 0 ? 0 : appPort + distance);
  // Chosen before the two below, so that neither takes the one port that must not change.
  const identityProvider = await choose(kept.identityProvider ?? near(2));
  if (kept.identityProvider !== undefined && kept.identityProvider !== identityProvider) {
    throw new Error(
      `Port ${kept.identityProvider} is in use, but the accounts in DATA_DIR need the identity provider at that port: free it.`,
    );
  }
  const cdn = await choose(kept.cdn ?? near(1));
  const ports = { app: appPort, cdn, identityProvider, aws: await choose(kept.aws ?? near(3)) };
  await writeFile(file, JSON.stringify(ports));
  return ports;
}

/** @throws Error in one sentence when the app cannot have the port. */
export async function requireFreePort(port: number): Promise<void> {
  const reason = port === 0 ? undefined : await whyUnusable(port);
  if (reason !== undefined) throw new Error(`${reason}.`);
}

/**
 * The range of {@link freePort}. Outgoing connections have ports from 32,768 (Linux) or 49,152 on. Most well-known services have ports
 * below 10,000, and 10,080 is the highest port that browsers and `fetch` refuse.
 */
const [LOWEST, BEYOND] = [10_081, 32_768];
const TRIES = 100;
const HIGHEST = 65_535;

/**
 * A random port that is free now. It is outside the range of outgoing connections, so that none of them takes it before a
 * server listens on it.
 */
export async function freePort(): Promise<number> {
  for (let time = 0; time < TRIES; time++) {
    const port = randomInt(LOWEST, BEYOND);
    if ((await whyTaken(port)) === undefined) return port;
  }
  throw new Error('There is no free port.');
}

async function whyUnusable(port: number): Promise<string | undefined> {
  const reason = await whyTaken(port);
  if (reason !== undefined) return reason;
  // `fetch` has the browsers' list of the ports of other protocols, such as 6000, and refuses them before it connects.
  const { cause } = await fetch(`http://127.0.0.1:${port}`).then(
    () => new Error(),
    (error: Error) => error,
  );
  return (cause as Error | undefined)?.message === 'bad port'
    ? `Browsers refuse port ${port}: set PORT to another one`
    : undefined;
}

/** Tries to listen on both addresses of `localhost`. @returns a sentence when one of them cannot be had. */
async function whyTaken(port: number): Promise<string | undefined> {
  for (const host of ['127.0.0.1', '::1'] as const) {
    const server = createServer();
    try {
      await startListening(server, port, host);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE') return `Port ${port} is in use: set PORT to a free one`;
      if (code === 'EACCES') return `Port ${port} needs rights that you do not have: set PORT to one from 1024 on`;
      return `Port ${port} cannot be used: ${message}`;
    }
    if (server.listening) await once(server.close(), 'close');
  }
  return undefined;
}

/** Listens on that address. On a machine without IPv6 the server does not listen on `::1`, and nobody can. */
export async function startListening(server: Server, port: number, host: '127.0.0.1' | '::1'): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (host === '127.0.0.1' || (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT')) throw error;
  }
}
