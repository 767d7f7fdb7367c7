import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/engines.ts'],
    // Two cores: more workers than that only wait for each other and for the engines.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What happens by itself happens soon, but not on a busy machine.
    expect: { poll: { timeout: 20_000 } },
  },
});
