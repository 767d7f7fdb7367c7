import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultProvider } from '../../../shared/aws/credentials.ts';

beforeEach(() => {
  for (const name of ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN', 'CONTAINER_CREDENTIALS_FULL_URI'])
    vi.stubEnv(`AWS_${name}`, undefined);
});
afterEach(() => vi.unstubAllEnvs());

test('a function has the credentials of its variables', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const credentials = defaultProvider();
  expect(await credentials()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
  vi.stubEnv('AWS_SESSION_TOKEN', 'token');
  expect(await credentials()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' });
});

test('a function without credentials fails and says which variables are missing', async () => {
  await expect(defaultProvider()()).rejects.toThrow(/Set AWS_\w+ or AWS_\w+/);
});

test('a function without these variables reads credentials from an address, and again before they end', async () => {
  let reads = 0;
  let Expiration = new Date(Date.now() + 3_600_000).toISOString();
  const server = createServer((_, response) => {
    reads += 1;
    response.end(JSON.stringify({ AccessKeyId: `id${reads}`, SecretAccessKey: 'secret', Token: 'token', Expiration }));
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  const lasting = defaultProvider();
  expect(await lasting()).toMatchObject({ accessKeyId: 'id1', secretAccessKey: 'secret', sessionToken: 'token' });
  expect(await lasting()).toMatchObject({ accessKeyId: 'id1' });
  Expiration = new Date(Date.now() + 240_000).toISOString();
  const ending = defaultProvider();
  await ending();
  expect(await ending()).toMatchObject({ accessKeyId: 'id3' });
});
