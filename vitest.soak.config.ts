import { defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** What takes too long for every change: the same with many more runs, at each call, or of a size that takes minutes. */
export default defineConfig({
  test: { ...config.test, include: ['test/**/*.soak.ts'], testTimeout: 30 * 60_000 },
});
