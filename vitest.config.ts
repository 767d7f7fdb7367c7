import { defineConfig } from 'vitest/config';

export const COMMON = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // Background work is quick, but not on a busy machine.
  expect: { poll: { timeout: 20_000 } },
};

/** Tests of modules that read their environment when they load: each file needs an environment of its own. */
const MODULE_TESTS = ['test/{admin,functions,shared}/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/engines.ts'],
    // For two cores: a test often waits for a deadline, a retry or a page, and the third worker uses that time.
    maxWorkers: 3,
    projects: [
      // Files run one after the other in a few processes: to start one per file and load all packages took a fifth of the time.
      {
        test: {
          ...COMMON,
          name: 'modules',
          include: MODULE_TESTS,
          isolate: false,
          setupFiles: ['same-environment', 'fresh-modules', 'compare-buffers'].map((name) => `test/support/${name}.ts`),
        },
      },
      {
        test: {
          ...COMMON,
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: MODULE_TESTS,
          isolate: false,
          setupFiles: ['test/support/same-environment.ts'],
        },
      },
    ],
  },
});
