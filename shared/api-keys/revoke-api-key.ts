import { ApiError } from '../errors.ts';
import { isUuid } from '../ids.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/**
 * Revokes a key: from the next request on it is refused.
 * @throws ApiError `not_found` when the account has no such key, whoever else may have it.
 */
export async function revokeApiKey(
  keys: ApiKeyStore,
  { accountId, id, deadlineAt }: { accountId: string; id: string; deadlineAt: number },
): Promise<{ id: string; deleted: true }> {
  if (!isUuid(id) || !(await keys.remove(accountId, id, { deadlineAt }))) throw new ApiError('not_found');
  return { id, deleted: true };
}
