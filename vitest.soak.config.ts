import { defineConfig } from 'vitest/config';
import { COMMON } from './vitest.config.ts';

/** The test files that try all their cases only in this run. */
export const THOROUGH = [
  'clients/faulty-proxy',
  'clients/package',
  'clients/command',
  'shared/files/search',
  'shared/files/faults',
  'shared/files/listing',
  'shared/administration/delete-account',
  'shared/administration/suspension',
  'shared/rate-limit/rate-limiter',
  'contract/direct-upload',
  'contract/multipart',
  'contract/streaming',
  'contract/upload-clients',
  'dashboard/accessibility',
  'dashboard/uploading',
  'docs/examples',
  'service/accounting',
  'service/cut-connections',
  'service/secrets',
].map((name) => `test/${name}.test.ts`);

/**
 * Tests that take too long to run at every change: those with many more runs, with faults at each call to AWS, or with sizes that
 * take minutes.
 */
export default defineConfig({
  test: {
    ...COMMON,
    globalSetup: ['test/support/engines.ts'],
    maxWorkers: 2,
    include: ['test/**/*.soak.ts', ...THOROUGH],
    env: { THOROUGH: 'yes' },
    setupFiles: ['test/support/fixed-seed.ts'],
    testTimeout: 30 * 60_000,
  },
});
