import type { StoredApiKey } from './api-key.ts';

/** Where keys are kept. Reads are strongly consistent, so that a revocation holds from the next request. */
export interface ApiKeyStore {
  /**
   * Keeps a new key, unless its account has `limit` of them.
   * @param deadlineAt  epoch milliseconds until which conflicts with other writers are waited out.
   */
  add(
    key: StoredApiKey & { readonly keyHash: string },
    options: { limit: number; deadlineAt: number },
  ): Promise<'added' | 'limit reached'>;
  /** The keys of an account, newest first. */
  list(accountId: string): Promise<StoredApiKey[]>;
  /** The key with this hash; undefined when there is none or it was revoked. */
  find(keyHash: string): Promise<StoredApiKey | undefined>;
  /**
   * Notes a use, if the key still exists and no use at or after `unlessSince` is noted. A note that meets another writer
   * is dropped: the next use brings another.
   */
  noteUse(keyHash: string, usedAt: number, unlessSince: number): Promise<void>;
  /** @returns false when the account has no such key (any more). */
  remove(accountId: string, id: string, options: { deadlineAt: number }): Promise<boolean>;
}
