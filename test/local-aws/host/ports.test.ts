import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listenOnLocalhost } from '../../../local-aws/host/http-server.ts';
import { choosePorts, freePort } from '../../../local-aws/host/ports.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The addresses of `localhost` on this machine, which may have no IPv6. */
const LOOPBACKS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses?.map(({ address }) => address) ?? [])
  .filter((address) => ['127.0.0.1', '::1'].includes(address));

/** @returns what frees the port. */
async function occupy(port: number, address = '127.0.0.1'): Promise<() => Promise<unknown>> {
  const server = createServer().listen(port, address);
  servers.push(server);
  await once(server, 'listening');
  return () => once(server.close(), 'close');
}

const dataDir = () => mkdtemp(join(tmpdir(), 'ports-'));

test('the other ports follow the port of the app, and stay the same at the next start', async () => {
  const directory = await dataDir();
  const app = await freePort();
  const ports = await choosePorts(app, directory);
  expect(ports.app).toBe(app);
  expect(new Set(Object.values(ports)).size).toBe(4);
  for (const port of [ports.cdn, ports.identityProvider, ports.aws]) expect(port - app).toBeGreaterThan(0);
  expect(await choosePorts(app, directory)).toEqual(ports);
});

test('at the first start, a port that another process has is replaced', async () => {
  const app = await freePort();
  // When another process has it already, that is as good.
  await occupy(app + 1).catch(({ code }) => expect(code).toBe('EADDRINUSE'));
  expect((await choosePorts(app, await dataDir())).cdn).toBeGreaterThan(app + 1);
});

describe('a later start', () => {
  let directory: string;
  let first: Awaited<ReturnType<typeof choosePorts>>;
  beforeEach(async () => {
    directory = await dataDir();
    first = await choosePorts(await freePort(), directory);
  });

  test.each([
    ['cdn', 'the links of the files in DATA_DIR lead to that port'],
    ['identityProvider', 'the accounts in DATA_DIR need the identity provider at that port'],
    ['aws', 'the addresses for direct uploads that were given out lead to that port'],
  ] as const)('is refused while another program has the port %s, and has it again afterwards', async (server, why) => {
    const port = first[server];
    const kept = await readFile(join(directory, 'ports.json'), 'utf8');
    const end = await occupy(port);
    let another = await freePort();
    while (Object.values(first).includes(another)) another = await freePort();
    // The app's port says nothing of the others.
    for (const app of [first.app, another, 0])
      await expect(choosePorts(app, directory)).rejects.toThrow(`Port ${port} is in use, but ${why}: free it.`);
    await expect(choosePorts(port, directory)).rejects.toThrow(`PORT must not be ${port}, because ${why}: set PORT`);
    expect(await readFile(join(directory, 'ports.json'), 'utf8')).toBe(kept);
    await end();
    expect(await choosePorts(first.app, directory)).toEqual(first);
  });

  test('has the same ports with another port of the app', async () => {
    const { app, ...kept } = await choosePorts(0, directory);
    expect([app, kept]).toEqual([expect.any(Number), { ...first, app: undefined }]);
  });
});

test.each(LOOPBACKS)('a port of the app that another program has at %s is an error', async (address) => {
  const app = await freePort();
  await occupy(app, address);
  await expect(choosePorts(app, await dataDir())).rejects.toThrow(`Port ${app} is in use: set PORT to a free one.`);
});

test('a port that browsers refuse is an error for the app, and is not chosen for the others', async () => {
  await expect(choosePorts(6_666, await dataDir())).rejects.toThrow(
    'Browsers refuse port 6666: set PORT to another one.',
  );
  expect(Object.values(await choosePorts(10_078, await dataDir()))).not.toContain(10_080);
});

test('after the highest port comes any other', async () => {
  const { app, ...others } = await choosePorts(65_535, await dataDir());
  expect(app).toBe(65_535);
  expect(new Set(Object.values(others)).size).toBe(3);
});

test.each(LOOPBACKS)('a server on localhost answers at %s, and its end ends the connections there', async (address) => {
  const server = createHttpServer((_, response) => response.end('here'));
  const { port, close } = await listenOnLocalhost(server, 0);
  const socket = connect(port, address);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('here');
  const closed = once(socket.resume(), 'close');
  await close();
  await closed;
  await occupy(port, address);
});

test('the port 0 takes free ports for all servers', async () => {
  const ports = await choosePorts(0, await dataDir());
  expect(Object.values(ports).every((port) => port > 0)).toBe(true);
});
