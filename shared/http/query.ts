import { ApiError } from '../errors.ts';
import type { ApiEvent } from './event.ts';

/**
 * A query parameter that may be given once.
 * @throws ApiError `invalid_request` when it is repeated: which of two did the client mean?
 */
export function queryText(event: ApiEvent, name: string): string | undefined {
  const values = event.multiValueQueryStringParameters?.[name] ?? [];
  if (values.length > 1) throw new ApiError('invalid_request');
  return values[0];
}

/**
 * A whole number from the query string.
 * @throws ApiError `invalid_request` when it is not one, or out of its bounds (both inclusive).
 */
export function queryInteger(
  event: ApiEvent,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = queryText(event, name);
  if (text === undefined) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new ApiError('invalid_request');
  return value;
}
