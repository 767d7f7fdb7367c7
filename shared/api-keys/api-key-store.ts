import type { StoredApiKey } from './api-key.ts';

/** Where keys are kept, for their owners. Reads are strongly consistent. */
export interface ApiKeyStore {
  /**
   * Keeps a new key, unless its account has `limit` of them or is suspended.
   * @param deadlineAt  epoch milliseconds until which conflicts with other writers are waited out.
   */
  add(
    key: StoredApiKey & { readonly keyHash: string },
    options: { limit: number; deadlineAt: number },
  ): Promise<'added' | 'limit reached' | 'suspended'>;
  /** The keys of an account, newest first. */
  list(accountId: string): Promise<StoredApiKey[]>;
  /** @returns false when the account has no such key (any more). */
  remove(accountId: string, id: string, options: { deadlineAt: number }): Promise<boolean>;
}

/** The same keys, for whoever shows one. */
export interface ApiKeyCredentials {
  /**
   * The key with this hash, by a strong read: a revocation holds from the next request. Undefined when there is none.
   */
  find(keyHash: string): Promise<StoredApiKey | undefined>;
  /**
   * Notes a use, if the key still exists and no use later than `unlessSince` is noted. A note that meets another writer
   * is dropped: the next use brings another. Both are epoch milliseconds.
   */
  noteUse(keyHash: string, usedAt: number, unlessSince: number): Promise<void>;
}
