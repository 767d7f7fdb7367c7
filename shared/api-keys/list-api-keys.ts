import { type ApiKey, toApiKey } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';

/** The keys of an account, newest first, without their secrets. */
export async function listApiKeys(keys: ApiKeyStore, accountId: string): Promise<{ items: ApiKey[] }> {
  const stored = await keys.list(accountId);
  return { items: stored.map(toApiKey) };
}
