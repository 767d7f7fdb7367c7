import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
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
    await briefly(() => keys.noteUse(keyHash, now, unlessSince)).catch(leaveItToTheNext);
  }
  return { accountId: key.accountId };
}

/** The key is good all the same. */
function leaveItToTheNext(error: unknown): void {
  log('warn', 'use of a key not noted; the next request does it', describeError(error));
}
