import { ApiError } from '../errors.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../limits.ts';
import { type ApiEvent, headerValues } from './event.ts';

/**
 * The request's `Idempotency-Key`; undefined when it has none.
 * @throws ApiError `invalid_request` unless it is one value of 1 to 255 visible ASCII characters or spaces.
 */
export function idempotencyKey(event: ApiEvent): string | undefined {
  const values = headerValues(event, 'idempotency-key');
  if (values.length === 0) return undefined;
  const [key = ''] = values;
  const isValid = values.length === 1 && key.length <= IDEMPOTENCY_KEY_MAX_LENGTH && /^[\x20-\x7e]+$/.test(key);
  if (!isValid) throw new ApiError('invalid_request', { detail: 'Idempotency-Key' });
  return key;
}

/** Marks the answer of a request that an earlier one with the same key had already made. */
export const replayedHeader = (isReplay: boolean): Record<string, string> =>
  isReplay ? { 'Idempotency-Replayed': 'true' } : {};
