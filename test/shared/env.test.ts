import { beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => {
  vi.resetModules();
  for (const name of ['NEEDED_VARIABLES', 'STAGE', 'CDN_URL', 'STORAGE_LIMIT_BYTES']) vi.stubEnv(name, undefined);
});

const load = () => import('../../shared/env.ts');

test('a function that lacks variables of its list fails when it loads, and names all of them', async () => {
  vi.stubEnv('NEEDED_VARIABLES', 'STAGE,CDN_URL,STORAGE_LIMIT_BYTES');
  vi.stubEnv('STAGE', 'dev');
  // An empty variable counts as absent.
  vi.stubEnv('CDN_URL', '');
  await expect(load()).rejects.toThrow('environment variable CDN_URL and STORAGE_LIMIT_BYTES is not set');
});

test('a function that has all variables of its list loads, even if other variables are missing', async () => {
  vi.stubEnv('NEEDED_VARIABLES', 'STAGE');
  vi.stubEnv('STAGE', 'dev');
  const { required } = await load();
  expect(required('STAGE')).toBe('dev');
  expect(() => required('CDN_URL')).toThrow('environment variable CDN_URL is not set');
});

test('a process without a list reads each variable when it needs it', async () => {
  const { limit } = await load();
  expect(() => limit('STORAGE_LIMIT_BYTES')).toThrow('environment variable STORAGE_LIMIT_BYTES is not set');
  vi.stubEnv('STORAGE_LIMIT_BYTES', '7');
  expect(limit('STORAGE_LIMIT_BYTES')).toBe(7);
});
