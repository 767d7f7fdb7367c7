import type { Route } from '../../shared/route.ts';

export const listApiKeys = {
  name: 'listApiKeys',
  method: 'GET',
  path: '/api/v1/api-keys',
  access: 'session',
  rateClass: 'requests',
  purpose: 'List API keys',
  entry: 'functions/api-keys/list-api-keys.ts',
  needs: { tables: [{ table: 'apiKeys', actions: ['Query', 'BatchGetItem'] }] },
  operation: {
    tag: 'API keys',
    description: 'The keys of the account, newest first, without their secrets.',
    successes: [{ status: 200, description: 'The keys.', body: 'ApiKeys' }],
    sample: { client: 'console.log(await hosting.keys.list());' },
  },
} as const satisfies Route;
