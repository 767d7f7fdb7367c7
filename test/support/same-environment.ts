import { afterAll } from 'vitest';

/** Restores the environment variables after each test file, because several files run in one process. */
const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
  Object.assign(process.env, before);
});
