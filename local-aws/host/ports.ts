import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
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
 * @throws Error in one sentence when that port or the kept port of the identity provider is in use. The provider's address is part of the
 *   identity of every account, so with another address users would not find their files.
 */
export async function choosePorts(app: number, dataDir: string): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const kept = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Partial<Ports>;
  const chosen = new Set<number>();
  const choose = async (preferred: number): Promise<number> => {
    for (let port = preferred || (await freePort()); port <= 65_535; port += 1) {
      if (!chosen.has(port) && (await isFree(port))) {
        chosen.add(port);
        return port;
      }
    }
    throw new Error(`There is no free port from ${preferred} on.`);
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

/** @throws Error in one sentence when another process listens on the port. */
export async function requireFreePort(port: number): Promise<void> {
  if (port !== 0 && !(await isFree(port))) throw new Error(`Port ${port} is in use: set PORT to a free one.`);
}

/**
 * The range of {@link freePort}. Outgoing connections have ports from 32,768 (Linux) or 49,152 on. Most well-known services have ports
 * below 10,000, and 10,080 is the highest port that browsers and `fetch` refuse.
 */
const [LOWEST, BEYOND] = [10_081, 32_768];
const TRIES = 100;

/**
 * A random port that is free now. It is outside the range of outgoing connections, so that none of them takes it before a
 * server listens on it.
 */
export async function freePort(): Promise<number> {
  for (let time = 0; time < TRIES; time++) {
    const port = randomInt(LOWEST, BEYOND);
    if (await isFree(port)) return port;
  }
  throw new Error('There is no free port.');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}
