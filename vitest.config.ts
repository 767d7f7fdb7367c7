import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export const COMMON = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // Background work is quick, but not on a busy machine.
  expect: { poll: { timeout: 20_000 } },
};

/** Tests of modules that read their environment when they load: each file needs an environment of its own. */
const MODULE_TESTS = ['test/{admin,functions,shared}/**/*.test.ts'];

/** The files that take longest, the longest first. */
const LONG_FILES = [
  'clients/command',
  'dashboard/uploading',
  'clients/faulty-proxy',
  'admin/commands',
  'service/time-limits',
  'dashboard/files',
  'infra/local/start',
  'smoke/smoke',
  'dashboard/session',
  'dashboard/mishaps',
  'contract/direct-upload',
  'shared/files/direct-upload',
  'docs/examples',
  'infra/settings/stage',
  'service/rounds',
  'service/secrets',
  'service/grants',
  'clients/client',
  'dashboard/accessibility',
  'shared/files/faults',
  'docs/operate',
  'docs/costs',
  'shared/files/sweep',
  'shared/rate-limit/rate-limiter',
  'contract/streaming',
  'shared/files/upload',
  'shared/files/search',
  'service/accounting',
  'service/incidents/forms',
  'shared/sessions/sessions',
  'dashboard/reference',
  'infra/local/synthesize',
  'clients/browser',
  'contract/account-limits',
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
    // For two cores: a test often waits for a deadline, a retry or a page, and the other workers use that time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
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
