import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { readKeptFile, writeKeptFile } from './kept-file.ts';

/** The ports of the servers. All listen on the loopback interface. */
interface Ports {
  readonly app: number;
  readonly cdn: number;
  readonly identityProvider: number;
  readonly aws: number;
}

type KeptPorts = Omit<Ports, 'app'>;

/** What would lead nowhere, or to another program, if a server moved to another port. */
const LED_TO: Record<keyof KeptPorts, string> = {
  cdn: 'the links of the files in DATA_DIR lead to that port',
  // The provider's address is part of the identity of every account.
  identityProvider: 'the accounts in DATA_DIR need the identity provider at that port',
  aws: 'the addresses for direct uploads that were given out lead to that port',
};

/**
 * Chooses the ports. The first start with `dataDir` may take any free ports. It stores those of all servers but the app's, and later starts
 * have the same.
 * @param app  the port of the app's distribution; 0 takes free ports for all that are not stored.
 * @throws Error in one sentence when the app's port or a stored port cannot be used.
 */
export async function choosePorts(app: number, dataDir: string): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const kept = await readKeptFile(
    file,
    parsePorts,
    'restore it, or remove it to choose the ports anew, as the first start does; links, accounts and uploads under way are lost if other ' +
      'ports are chosen',
  );
  if (kept !== undefined) {
    await requireKeptPorts(kept, app);
    const taken = new Set(Object.values(kept));
    return { app: app === 0 ? await chooseNear(0, taken) : app, ...kept };
  }
  await requireFreePort(app);
  const taken = new Set<number>();
  const choose = async (preferred: number) => {
    const port = await chooseNear(preferred, taken);
    taken.add(port);
    return port;
  };
  const appPort = await choose(app);
  const near = (distance: number) => choose(app === 0 ? 0 : appPort + distance);
  const chosen = { cdn: await near(1), identityProvider: await near(2), aws: await near(3) };
  await writeKeptFile(file, JSON.stringify(chosen));
  return { app: appPort, ...chosen };
}

/** The first free port from that one on that is not in `taken`. After the highest port comes any other; so does after 0. */
async function chooseNear(preferred: number, taken: ReadonlySet<number>): Promise<number> {
  const next = async (port: number) => (port > 0 && port <= HIGHEST ? port : await freePort());
  let port = await next(preferred);
  while (taken.has(port) || (await whyUnusable(port)) !== undefined) port = await next(port + 1);
  return port;
}

/** @throws Error when the text does not have a port for each server. */
function parsePorts(text: string): KeptPorts {
  const { cdn, identityProvider, aws } = JSON.parse(text) as Partial<KeptPorts>;
  const isPort = (port?: number) => Number.isInteger(port) && Number(port) > 0 && Number(port) <= HIGHEST;
  if (![cdn, identityProvider, aws].every(isPort)) throw new Error('not ports');
  return { cdn, identityProvider, aws } as KeptPorts;
}

async function requireKeptPorts(kept: KeptPorts, app: number): Promise<void> {
  for (const [server, port] of Object.entries(kept) as [keyof KeptPorts, number][]) {
    if (port === app) throw new Error(`PORT must not be ${port}, because ${LED_TO[server]}: set PORT to another one.`);
    const obstacle = await whyUnusable(port);
    if (obstacle) throw new Error(`${obstacle.what}, but ${LED_TO[server]}: free it.`);
  }
  await requireFreePort(app);
}

/** @throws Error in one sentence when the app cannot have the port. */
async function requireFreePort(port: number): Promise<void> {
  const obstacle = port === 0 ? undefined : await whyUnusable(port);
  if (obstacle) throw new Error(`${obstacle.what}: ${obstacle.remedy}.`);
}

/**
 * The range of {@link freePort}. Outgoing connections have ports from 32,768 (Linux) or 49,152 on. Most well-known services have ports
 * below 10,000, and 10,080 is the highest port that browsers and `fetch` refuse.
 */
const [LOWEST, BEYOND] = [10_081, 32_768];
const TRIES = 100;

/** Programs that start beside each other get a part of the range each, as `2/8`. Otherwise two could choose a port before either listens. */
function freeRange(): [number, number] {
  const [part = 1, parts = 1] = process.env.FREE_PORTS?.split('/').map(Number) ?? [];
  const size = Math.floor((BEYOND - LOWEST) / parts);
  return [LOWEST + (part - 1) * size, LOWEST + part * size];
}

const HIGHEST = 65_535;

/**
 * A random port that is free now. It is outside the range of outgoing connections, so that none of them takes it before a
 * server listens on it.
 */
export async function freePort(): Promise<number> {
  for (let time = 0; time < TRIES; time++) {
    const port = randomInt(...freeRange());
    if ((await whyTaken(port)) === undefined) return port;
  }
  throw new Error('There is no free port.');
}

/** Why a port cannot be used, and what helps if it may be another one. */
interface Obstacle {
  readonly what: string;
  readonly remedy: string;
}

async function whyUnusable(port: number): Promise<Obstacle | undefined> {
  const obstacle = await whyTaken(port);
  if (obstacle !== undefined) return obstacle;
  // `fetch` has the browsers' list of the ports of other protocols, such as 6000, and refuses them before it connects.
  const { cause } = await fetch(`http://127.0.0.1:${port}`).then(
    () => new Error(),
    (error: Error) => error,
  );
  return (cause as Error | undefined)?.message === 'bad port'
    ? { what: `Browsers refuse port ${port}`, remedy: 'set PORT to another one' }
    : undefined;
}

/** Tries to listen on both addresses of `localhost`. */
async function whyTaken(port: number): Promise<Obstacle | undefined> {
  for (const host of ['127.0.0.1', '::1'] as const) {
    const server = createServer();
    try {
      await startListening(server, port, host);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE') return { what: `Port ${port} is in use`, remedy: 'set PORT to a free one' };
      if (code === 'EACCES')
        return { what: `Port ${port} needs rights that you do not have`, remedy: 'set PORT to one from 1024 on' };
      return { what: `Port ${port} cannot be used (${message})`, remedy: 'set PORT to another one' };
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
