import { listApiKeys } from '../../shared/api-keys/api-key.ts';
import { apiKeyStore } from '../../shared/aws/api-key-store.ts';
import { ok } from '../../shared/http/response.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { listApiKeys as route } from './list-api-keys.route.ts';

/** GET /api-keys: 200 `{items}`, newest first, without their secrets. */
export const handler = apiHandler(route, async ({ caller }) => ok(await listApiKeys(apiKeyStore, caller.accountId)));
