/**
 * Mutation testing of the pure parts of `shared/`: `npm run test:mutation`, see test/README.md.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'vitest.mutation.config.ts', related: false },
  mutate: [
    'shared/upload-form/*.ts',
    'shared/http/cookies.ts',
    'shared/{ids,errors}.ts',
    'shared/api-keys/key-format.ts',
    'shared/aws/cached.ts',
    'shared/files/{content-disposition,file-name,file-record,media-type,parts}.ts',
    'shared/login/provider.ts',
    'shared/rate-limit/policy.ts',
    'shared/stack/cross-site.ts',
  ],
  // Stryker rewrites a tsconfig through an API that TypeScript 7 does not have; without one it rewrites nothing.
  tsconfigFile: 'no-tsconfig',
  coverageAnalysis: 'perTest',
  // A mutant of code that runs at load would need a new process with all tests. Such mutants would take most of the time.
  ignoreStatic: true,
  concurrency: 2,
  // Each mutant that makes an endless loop takes this long, and then a new process.
  timeoutMS: 2_000,
  tempDirName: '.stryker/sandbox',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { reportTests: false, allowColor: false },
  jsonReporter: { fileName: '.stryker/mutation.json' },
  thresholds: { high: 95, low: 85, break: 85 },
};
