import type { Route } from '../../shared/route.ts';

export const createApiKey = {
  name: 'createApiKey',
  method: 'POST',
  path: '/api/v1/api-keys',
  access: 'session',
  rateClass: 'requests',
  purpose: 'Create an API key; the key is shown once',
  entry: 'functions/api-keys/create-api-key.ts',
  isAudited: true,
  needs: {
    tables: [
      { table: 'apiKeys', actions: ['PutItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
  },
  operation: {
    tag: 'API keys',
    description: 'The answer is the only one that holds the secret.',
    body: 'CreateKeyRequest',
    successes: [{ status: 201, description: 'The new key.', body: 'ApiKeyWithSecret', headers: ['Location'] }],
    errors: ['api_key_limit_exceeded', 'unsupported_media_type'],
    sample: { json: '{"name": "CI"}', client: "console.log(await hosting.keys.create('CI'));" },
  },
} as const satisfies Route;
