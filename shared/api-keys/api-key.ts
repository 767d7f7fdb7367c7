import type { ApiKey, NewApiKey } from '../answers.ts';
import { ApiError } from '../errors.ts';
import { isUuid, uuidv7 } from '../ids.ts';
import { API_KEY_NAME_MAX_CODE_POINTS, API_KEYS_PER_ACCOUNT_MAX } from '../limits.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { generateKey, hashKey, isWellFormedKey, type KeyKind, prefixOf } from './key-format.ts';

/** A key as it is kept, under its hash. Times are epoch milliseconds. */
export interface StoredApiKey {
  /** A UUIDv7, so that ids sort by age. */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  /** Its account is suspended, so it is refused. */
  readonly isSuspended?: true;
}

function toApiKey({ id, name, keyPrefix, createdAt, lastUsedAt }: StoredApiKey): ApiKey {
  return {
    id,
    name,
    key_prefix: keyPrefix,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: lastUsedAt === undefined ? null : new Date(lastUsedAt).toISOString(),
  };
}

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

interface KeyRequest {
  readonly accountId: string;
  /** The `name` of the request's body, whatever it is. */
  readonly name: unknown;
  readonly kind: KeyKind;
  readonly deadlineAt: number;
}

/**
 * Makes a key and returns it with its secret, which is kept nowhere and cannot be shown again.
 *
 * If the answer is lost, the key exists and nobody knows its secret: it stands in the list, where its owner can revoke
 * it.
 * @throws ApiError `invalid_request` for the name, `api_key_limit_exceeded`; `unauthorized` when the account was suspended
 *   since the request was let in.
 */
export async function createApiKey(
  keys: ApiKeyStore,
  { accountId, name, kind, deadlineAt }: KeyRequest,
  clock: () => number = Date.now,
): Promise<NewApiKey> {
  if (!isKeyName(name)) throw new ApiError('invalid_request', { detail: 'API key name' });
  const key = generateKey(kind);
  const createdAt = clock();
  const stored = { id: uuidv7(createdAt), accountId, name, keyPrefix: prefixOf(key), createdAt };
  const limit = API_KEYS_PER_ACCOUNT_MAX;
  const outcome = await keys.add({ ...stored, keyHash: hashKey(key) }, { limit, deadlineAt });
  if (outcome === 'limit reached') throw new ApiError('api_key_limit_exceeded');
  if (outcome === 'suspended') throw new ApiError('unauthorized', { detail: 'the account is suspended' });
  return { ...toApiKey(stored), key };
}

/**
 * 1 to 100 code points, kept exactly as they came. Control characters, line breaks, halves of surrogate pairs and what
 * turns the direction of text are refused, and white space alone or what else cannot be seen: a name is shown on one line, and has to be seen there.
 */
function isKeyName(name: unknown): name is string {
  if (
    typeof name !== 'string' ||
    !/[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(name) ||
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(name)
  )
    return false;
  const { length } = [...name];
  return length >= 1 && length <= API_KEY_NAME_MAX_CODE_POINTS;
}

/** The keys of an account, newest first, without their secrets. */
export async function listApiKeys(keys: ApiKeyStore, accountId: string): Promise<{ items: ApiKey[] }> {
  const stored = await keys.list(accountId);
  return { items: stored.map(toApiKey) };
}

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
