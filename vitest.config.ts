import { defineConfig } from 'vitest/config';

export const COMMON = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // What happens by itself happens soon, but not on a busy machine.
  expect: { poll: { timeout: 20_000 } },
};

/** They import what reads its environment as it loads, each file with another one. */
const PIECES = ['test/{functions,shared}/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/engines.ts'],
    // For two cores: a test often waits for a deadline, a retry or a page, and the third worker uses that time.
    maxWorkers: 3,
    projects: [
      { test: { ...COMMON, name: 'pieces', include: PIECES, setupFiles: ['test/support/compare-buffers.ts'] } },
      // A service of its own is all that keeps these apart: to load everything anew for each file took a fifth of the time.
      {
        test: {
          ...COMMON,
          name: 'doors',
          include: ['test/**/*.test.ts'],
          exclude: PIECES,
          isolate: false,
          setupFiles: ['test/support/same-environment.ts'],
        },
      },
    ],
  },
});
