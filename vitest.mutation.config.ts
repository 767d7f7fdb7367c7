import { defineConfig } from 'vitest/config';
import { COMMON } from './vitest.config.ts';

/** The tests that Stryker runs against each mutant: those of the pure parts of `shared/`, which need no engine. */
export default defineConfig({
  test: {
    ...COMMON,
    include: [
      'test/shared/{errors,ids}.test.ts',
      'test/shared/api-keys/key-format.test.ts',
      'test/shared/aws/cached.test.ts',
      'test/shared/files/{content-disposition,file-name,file-record,media-type,parts,ticket-request}.test.ts',
      'test/shared/http/*.test.ts',
      'test/shared/login/provider.test.ts',
      'test/shared/rate-limit/policy.test.ts',
      'test/shared/stack/cross-site.test.ts',
      'test/shared/upload-form/*.test.ts',
    ],
    // Thousands of forms for each mutant would take hours.
    exclude: ['test/shared/upload-form/random-forms.test.ts'],
    setupFiles: ['test/support/compare-buffers.ts'],
  },
});
