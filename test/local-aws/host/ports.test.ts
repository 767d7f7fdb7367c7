import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { choosePorts, freePort } from '../../../local-aws/host/ports.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
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

test('a port that another process has taken is replaced', async () => {
  const directory = await dataDir();
  const app = await freePort();
  const ports = await choosePorts(app, directory);
  await occupy(ports.cdn);
  const next = await choosePorts(app, directory);
  expect(next.cdn).not.toBe(ports.cdn);
  expect(next.identityProvider).toBe(ports.identityProvider);
});

test('a port of the app that is in use is an error', async () => {
  const app = await freePort();
  await occupy(app);
  await expect(choosePorts(app, await dataDir())).rejects.toThrow(`Port ${app} is in use: set PORT to a free one.`);
});

test('the former port of the identity provider must be free, because every account depends on that port', async () => {
  const directory = await dataDir();
  const app = await freePort();
  const { identityProvider } = await choosePorts(app, directory);
  await occupy(identityProvider);
  await expect(choosePorts(app, directory)).rejects.toThrow(`Port ${identityProvider} is in use, but the accounts`);
});

test('the port 0 takes free ports for all servers', async () => {
  const ports = await choosePorts(0, await dataDir());
  expect(Object.values(ports).every((port) => port > 0)).toBe(true);
});
