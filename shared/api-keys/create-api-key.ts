import { ApiError } from '../errors.ts';
import { uuidv7 } from '../ids.ts';
import { API_KEY_NAME_MAX_CODE_POINTS, API_KEYS_PER_ACCOUNT_MAX } from '../limits.ts';
import { type ApiKey, toApiKey } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import { generateKey, hashKey, type KeyKind, prefixOf } from './key-format.ts';

export interface KeyRequest {
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
): Promise<ApiKey & { key: string }> {
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
