import { defineConfig } from 'vitest/config';
import { NO_FAULT, PLANTED, plant } from './test/shared/histories/planted-faults.ts';
import { COMMON } from './vitest.config.ts';

/** The test files that try all their cases only in this run. */
export const THOROUGH = [
  'clients/faulty-proxy',
  'clients/package',
  'clients/command',
  'shared/histories/linearizable',
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
  'shared/histories/linearizable-http',
  'service/secrets',
].map((name) => `test/${name}.test.ts`);

/** What judges a database most. `ENGINE=dynoxide` and `ENGINE=dynamodb-local` run this on that engine, and nothing else. */
const JUDGES = ['test/infra/local/second-engine', 'test/service/faults', 'test/shared/histories/histories'].map(
  (name) => `${name}.soak.ts`,
);

const PLANTED_TESTS = 'test/shared/histories/planted.soak.ts';

/**
 * Tests that take too long to run at every change: those with many more runs, with faults at each call to AWS, or with sizes that
 * take minutes.
 */
const SOAK = {
  ...COMMON,
  env: { THOROUGH: 'yes' },
  setupFiles: ['own-ports', 'seed'].map((name) => `test/support/${name}.ts`),
  testTimeout: 30 * 60_000,
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/engines.ts', 'test/left-out.ts'],
    maxWorkers: 2,
    projects: [
      process.env.ENGINE
        ? { test: { ...SOAK, name: 'engine', include: JUDGES } }
        : {
            test: {
              ...SOAK,
              name: 'soak',
              include: ['test/**/*.soak.ts', ...THOROUGH],
              exclude: [PLANTED_TESTS, ...JUDGES],
            },
          },
      // Each takes minutes: 200 histories for a fault that is found late. So they run only with PLANTED=yes.
      ...(process.env.PLANTED ? [undefined, ...PLANTED] : []).map((fault) => {
        const name = fault?.kind ?? NO_FAULT;
        return {
          plugins: fault ? [plant(fault)] : [],
          test: { ...SOAK, name, include: [PLANTED_TESTS], provide: { planted: name } },
        };
      }),
    ],
  },
});
