import { isUnavailable } from '../errors.ts';
import type { ApiKeyCredentials } from './api-key-store.ts';
import { hashKey, isWellFormedKey } from './key-format.ts';

/** The use of a key is noted at most this often. */
const USE_NOTED_EVERY_MS = 60_000;

/**
 * Whose key this is; undefined when it is nobody's. One read, none for what cannot be a key, and once a minute a write.
 */
export async function authenticateKey(
  keys: ApiKeyCredentials,
  text: string,
  clock: () => number = Date.now,
): Promise<{ accountId: string } | undefined> {
  if (!isWellFormedKey(text)) return undefined;
  const keyHash = hashKey(text);
  const key = await keys.find(keyHash);
  if (!key || key.isSuspended) return undefined;
  const now = clock();
  const unlessSince = now - USE_NOTED_EVERY_MS;
  if (key.lastUsedAt === undefined || key.lastUsedAt <= unlessSince) {
    await keys.noteUse(keyHash, now, unlessSince).catch(ignoreUnavailable);
  }
  return { accountId: key.accountId };
}

/** The key is good; a note that cannot be written now is no reason to refuse it. */
function ignoreUnavailable(error: unknown): void {
  if (!isUnavailable(error)) throw error;
}
