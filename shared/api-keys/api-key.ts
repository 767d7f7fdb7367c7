import type { ApiKey, ApiKeyWithSecret, Deletion, ListOfKeys } from '../contract/answers.ts';
import { API_KEYS_PER_ACCOUNT_MAX } from '../contract/limits.ts';
import { API_KEY_NAME } from '../contract/request-rules.ts';
import { ApiError } from '../errors.ts';
import { isUuid, uuidv7 } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { generateKey, hashKey, isWellFormedKey, type KeyKind, prefixOf } from './key-format.ts';

/** A key as it is stored, under its hash. Times are epoch milliseconds. */
export interface StoredApiKey {
  /** A UUIDv7, so that ids sort by age. */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  /** Present while the account of the key is suspended. Then the key is refused. */
  readonly isSuspended?: true;
}

/** The keys of an account, for its owner. Reads are strongly consistent. */
export interface ApiKeyStore {
  /**
   * Stores a new key, unless its account has `limit` keys or is suspended. Waits for other writers of the account until `deadlineAt` (epoch
   * milliseconds).
   */
  add(
    key: StoredApiKey & { readonly keyHash: string },
    options: { limit: number; deadlineAt: number },
  ): Promise<'added' | 'limit reached' | 'suspended'>;
  /** The keys of an account, newest first. */
  list(accountId: string): Promise<StoredApiKey[]>;
  /** Removes a key. @returns false when the account has no such key. */
  remove(accountId: string, id: string, options: { deadlineAt: number }): Promise<boolean>;
}

/** The same keys by their hashes, for requests that carry a key. */
export interface ApiKeyCredentials {
  /** Reads strongly, so that a revocation holds from the next request; undefined when there is no such key. */
  find(keyHash: string): Promise<StoredApiKey | undefined>;
  /**
   * Writes `usedAt` as the last use, if the key still exists and its last use on record is not later than `unlessSince`. Both times are
   * epoch milliseconds. When a transaction is writing the row, this does nothing; the next use is noted instead.
   */
  noteUse(keyHash: string, usedAt: number, unlessSince: number): Promise<void>;
}

/** The use of a key is noted at most this often. */
const USE_NOTED_EVERY_MS = 60_000;

/** The holder of a valid key. */
interface KeyHolder {
  readonly accountId: string;
  readonly keyPrefix: string;
}

/**
 * Finds the account that a key belongs to; undefined when the key is not valid. This costs one read (none for a text that cannot be a key).
 * Once a minute it also makes a write that notes the use.
 *
 * The use is noted whatever the answer to the request is, even a 429, because the owner of a stolen key must see that somebody uses it.
 */
export async function authenticateKey(
  keys: ApiKeyCredentials,
  text: string,
  clock: () => number = Date.now,
): Promise<KeyHolder | undefined> {
  if (!isWellFormedKey(text)) return undefined;
  const keyHash = hashKey(text);
  const key = await keys.find(keyHash);
  if (!key || key.isSuspended) return undefined;
  await noteUse(keys, { ...key, keyHash }, clock());
  return { accountId: key.accountId, keyPrefix: key.keyPrefix };
}

/** Notes the use of a key. If this fails, or we die before it, the key stays valid. */
async function noteUse(
  keys: ApiKeyCredentials,
  { keyHash, lastUsedAt }: Pick<StoredApiKey, 'lastUsedAt'> & { readonly keyHash: string },
  now: number,
): Promise<void> {
  const unlessSince = now - USE_NOTED_EVERY_MS;
  if (lastUsedAt !== undefined && lastUsedAt > unlessSince) return;
  await briefly(() => keys.noteUse(keyHash, now, unlessSince)).catch((error) => {
    log('warn', 'use of a key not noted; the next request does it', describeError(error));
  });
}

interface KeyRequest {
  readonly accountId: string;
  /** The `name` in the request's body, not checked yet. */
  readonly name: unknown;
  readonly kind: KeyKind;
  readonly deadlineAt: number;
}

/**
 * Creates a key and returns it with its secret, which is not stored and cannot be shown again.
 *
 * If the client does not get the answer, nobody knows the key. Its owner finds it in the list, and can revoke it.
 * @throws ApiError `invalid_request` when the name is not allowed; `api_key_limit_exceeded`; `unauthorized` when the account was suspended
 *   after the request was authenticated.
 */
export async function createApiKey(
  keys: ApiKeyStore,
  { accountId, name, kind, deadlineAt }: KeyRequest,
  clock: () => number = Date.now,
): Promise<ApiKeyWithSecret> {
  if (!isKeyName(name))
    throw new ApiError('invalid_request', {
      detail: 'the name of the key is empty, too long, or has invisible characters',
    });
  const key = generateKey(kind);
  const createdAt = clock();
  const stored = { id: uuidv7(createdAt), accountId, name, keyPrefix: prefixOf(key), createdAt };
  const limit = API_KEYS_PER_ACCOUNT_MAX;
  const outcome = await keys.add({ ...stored, keyHash: hashKey(key) }, { limit, deadlineAt });
  if (outcome === 'limit reached') throw new ApiError('api_key_limit_exceeded', { facts: { key_count_limit: limit } });
  if (outcome === 'suspended') throw new ApiError('unauthorized', { detail: 'the account is suspended' });
  return { ...toApiKey(stored), key };
}

const NAME_PATTERN = new RegExp(API_KEY_NAME.pattern, 'u');

/**
 * A name has 1 to 100 code points, and is stored unchanged. It is shown on one line, and must be readable there. So a name is refused if it
 * has control characters, line breaks, halves of surrogate pairs, or characters that change the direction of text. A name of only white
 * space or other invisible characters is refused, too.
 */
function isKeyName(name: unknown): name is string {
  if (
    typeof name !== 'string' ||
    !/[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u.test(name) ||
    !name.isWellFormed() ||
    !NAME_PATTERN.test(name)
  )
    return false;
  const { length } = [...name];
  return length >= API_KEY_NAME.minLength && length <= API_KEY_NAME.maxLength;
}

/** The keys of an account, newest first, without their secrets. */
export async function listApiKeys(keys: ApiKeyStore, accountId: string): Promise<ListOfKeys> {
  const stored = await keys.list(accountId);
  return { items: stored.map(toApiKey) };
}

/**
 * Revokes a key: from the next request on it is refused.
 * @throws ApiError `not_found` when the account has no such key, even if another account has it.
 */
export async function revokeApiKey(
  keys: ApiKeyStore,
  { accountId, id, deadlineAt }: { accountId: string; id: string; deadlineAt: number },
): Promise<Deletion> {
  if (!isUuid(id) || !(await keys.remove(accountId, id, { deadlineAt })))
    throw new ApiError('not_found', { detail: 'the account has no such key' });
  return { id, deleted: true };
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
