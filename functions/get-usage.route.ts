import type { Route } from '../shared/route.ts';

export const getUsage = {
  name: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  access: 'key-or-session',
  rateClass: 'requests',
  purpose: 'What the account uses, and what it may use',
  entry: 'functions/get-usage.ts',
  needs: {
    tables: [{ table: 'accounts', actions: ['GetItem'] }],
    limits: ['STORAGE_LIMIT_BYTES', 'FILE_COUNT_LIMIT', 'UPLOAD_BYTES_PER_DAY', 'MAX_UPLOAD_SIZE_BYTES'],
  },
  operation: {
    tag: 'Usage',
    description:
      'Storage, files and bytes of the day, each with its limit. A program can see before an upload whether a file fits. `/auth/me` says ' +
      'who is logged in.',
    successes: [{ status: 200, description: 'Usage and limits.', body: 'Usage' }],
    sample: { client: 'console.log(await hosting.usage());' },
  },
} as const satisfies Route;
