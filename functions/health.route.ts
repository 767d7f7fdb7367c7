import type { Route } from '../shared/route.ts';

export const health = {
  name: 'health',
  method: 'GET',
  path: '/health',
  access: 'public',
  purpose: 'Health of the service, its database and its storage',
  entry: 'functions/health.ts',
  needs: {
    tables: [{ table: 'accounts', actions: ['GetItem'] }],
    uploads: [{ actions: ['ListBucket'] }],
  },
  operation: {
    tag: 'Health',
    description: 'Asks the database and the storage, at most every 3 seconds. 503 says which of them does not answer.',
    successes: [{ status: 200, description: 'The service works.', body: 'Health', headers: ['X-Commit'] }],
    sample: {},
  },
} as const satisfies Route;
