import { defineConfig } from 'vitest/config';
import { COMMON } from './vitest.config.ts';

/** A part of what these try is left to us. */
export const THOROUGH = [
  'shared/files/faults',
  'shared/administration/delete-account',
  'shared/administration/suspension',
  'shared/rate-limit/rate-limiter',
  'contract/direct-upload',
  'contract/streaming',
  'contract/upload-clients',
  'dashboard/uploading',
  'service/secrets',
].map((name) => `test/${name}.test.ts`);

/** What takes too long for every change: the same with many more runs, at each call, or of a size that takes minutes. */
export default defineConfig({
  test: {
    ...COMMON,
    globalSetup: ['test/support/engines.ts'],
    maxWorkers: 2,
    include: ['test/**/*.soak.ts', ...THOROUGH],
    env: { THOROUGH: 'yes' },
    testTimeout: 30 * 60_000,
  },
});
