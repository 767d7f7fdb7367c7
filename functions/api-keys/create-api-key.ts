import { createApiKey } from '../../shared/api-keys/api-key.ts';
import { apiKeyStore } from '../../shared/aws/api-key-store.ts';
import { required } from '../../shared/env.ts';
import { jsonBody } from '../../shared/http/request.ts';
import { created } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { auditRequest } from '../../shared/stack/route-stack.ts';
import { createApiKey as route } from './create-api-key.route.ts';

const kind = required('STAGE') === 'prod' ? 'live' : 'test';

/** POST /api-keys: 201 and the key with its secret, which is shown only now; 400 for an invalid name; 403 `api_key_limit_exceeded`. */
export const handler = apiHandler(route, async ({ event, caller: { accountId }, deadlineAt }) => {
  const { name } = jsonBody(event);
  const key = await createApiKey(apiKeyStore, { accountId, name, kind, deadlineAt });
  auditRequest(event, 'api_key_created', { account_id: accountId, key_id: key.id, key_prefix: key.key_prefix });
  return created(key, `/api/v1/api-keys/${key.id}`);
});
