import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export const COMMON = {
  // These end a test that hangs. No test comes near them, not even on a busy machine.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 120_000 } },
};

/** Each of these files loads our modules again, because they read their environment when they load. */
const MODULE_TESTS = ['test/{operator/admin,functions,shared}/**/*.test.ts'];

/** Each of these files has a process of its own: V8 counts the blocks of a function only if it has compiled the same text never before. */
const FUZZ_TESTS = ['test/fuzz/**/*.test.ts'];

/** The files that take longest, the longest first. A file that is not here takes less than six seconds. */
const LONG_FILES = [
  'operator/admin/commands',
  'shared/histories/histories',
  'shared/files/direct-upload',
  'shared/files/faults',
  'shared/histories/linearizable',
  'shared/files/sweep',
  'shared/files/upload',
  'shared/rate-limit/rate-limiter',
  'shared/sessions/sessions',
  'shared/files/search',
  'shared/files/listing',
  'shared/api-keys/api-keys',
  'dashboard/uploading',
  'service/grants',
  'dashboard/session',
  'clients/command',
  'dashboard/mishaps',
  'contract/direct-upload',
  'infra/local/start',
  'dashboard/files',
  'clients/client',
  'contract/streaming',
  'operator/smoke/smoke',
  'clients/faulty-proxy',
  'infra/settings/stage',
  'service/time-limits',
  'service/cut-connections',
  'shared/histories/linearizable-http',
  'fuzz/fuzz',
  'service/rounds',
  'service/secrets',
  'docs/examples',
  'dashboard/accessibility',
  'docs/operate',
  'contract/account-limits',
  'service/sweeper',
  'service/accounting',
  'dashboard/reference',
  'service/incidents/forms',
  'service/incidents/access',
  'contract/health',
  'clients/browser',
  'service/template',
  'clients/package',
  'local-aws/gateway/gateway',
  'local-aws/lambda/lambda-service',
  'docs/restoring',
  'infra/stacks/deployments',
  'dashboard/api-keys',
  'contract/upload',
  'examples/programs',
  'infra/local/synthesize',
  'infra/validation',
  'operator/deploy/deploy',
  'contract/errors',
  'contract/login',
  'contract/rate-limits',
  'contract/upload-clients',
  'local-aws/lambda/web-function',
  'service/faults',
].map((name) => `/test/${name}.test.ts`);

/**
 * Begins the longest files of each project first, so that no worker has a long one left at the end. Vitest orders files by their
 * last durations, but a fresh clone has none, and then it goes by their size.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ moduleId }: TestSpecification) => LONG_FILES.findIndex((name) => moduleId.endsWith(name));
    // The files of a project stay together: its processes end when the next file belongs to another project.
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const long = own.filter((file) => rank(file) >= 0).toSorted((one, other) => rank(one) - rank(other));
      return [...long, ...own.filter((file) => rank(file) < 0)];
    });
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/engines.ts'],
    // More workers than the two cores: a test often waits for a deadline, a retry or a page, and other workers use that time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Files run one after the other in a few processes. A process for each file would load all packages again, which took a
      // fifth of the time.
      {
        test: {
          ...COMMON,
          name: 'modules',
          include: MODULE_TESTS,
          isolate: false,
          setupFiles: ['own-ports', 'same-environment', 'fresh-modules', 'compare-buffers', 'seed'].map(
            (name) => `test/support/${name}.ts`,
          ),
        },
      },
      {
        test: {
          ...COMMON,
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [...MODULE_TESTS, ...FUZZ_TESTS],
          isolate: false,
          setupFiles: ['own-ports', 'same-environment', 'seed'].map((name) => `test/support/${name}.ts`),
        },
      },
      { test: { ...COMMON, name: 'fuzz', include: FUZZ_TESTS, setupFiles: ['test/support/seed.ts'] } },
    ],
  },
});
