import { idParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const revokeApiKey = {
  name: 'revokeApiKey',
  method: 'DELETE',
  path: '/api/v1/api-keys/{id}',
  access: 'session',
  rateClass: 'requests',
  purpose: 'Revoke an API key',
  entry: 'functions/api-keys/revoke-api-key.ts',
  isAudited: true,
  needs: {
    tables: [
      { table: 'apiKeys', actions: ['GetItem', 'DeleteItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
  },
  operation: {
    tag: 'API keys',
    description: 'The key is refused from the next request on.',
    parameters: [idParameter('the key')],
    successes: [{ status: 200, description: 'The key is revoked.', body: 'Deletion' }],
    errors: ['not_found'],
    sample: { client: "await hosting.keys.revoke(prompt('The id of the key?') ?? '');" },
  },
} as const satisfies Route;
