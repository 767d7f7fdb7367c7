import { defineConfig } from 'vitest/config';
import { COMMON } from './vitest.config.ts';

/** Half of what these try is left to us. */
const MISHAPS = ['files/mishaps', 'accounts/delete-account', 'accounts/suspension'].map(
  (name) => `test/shared/${name}.test.ts`,
);

/** What takes too long for every change: the same with many more runs, at each call, or of a size that takes minutes. */
export default defineConfig({
  test: {
    ...COMMON,
    globalSetup: ['test/support/engines.ts'],
    maxWorkers: 2,
    include: ['test/**/*.soak.ts', ...MISHAPS],
    env: { ALL_MISHAPS: 'yes' },
    testTimeout: 30 * 60_000,
  },
});
