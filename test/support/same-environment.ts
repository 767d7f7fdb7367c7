import { afterAll } from 'vitest';

/** For files that run one after the other in one process: each finds the environment as the first did. */
const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
  Object.assign(process.env, before);
});
