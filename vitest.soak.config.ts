import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** What takes too long for every change: the same tests with many more runs. */
export default defineConfig({
  test: { ...config.test, include: ['test/**/*.soak.ts'], testTimeout: 30 * 60_000 },
});
