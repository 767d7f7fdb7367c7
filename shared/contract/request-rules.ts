import { API_KEY_NAME_MAX_CODE_POINTS, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, PAGE_MAX } from './limits.ts';

/** What requests may contain: the functions check requests by these rules, and the OpenAPI document states them. */

/** The whole numbers in the query of `GET /files`. The bounds are inclusive. */
export const LIST_QUERY = {
  page: { fallback: 1, min: 1, max: PAGE_MAX },
  limit: { fallback: PAGE_LIMIT_DEFAULT, min: 1, max: PAGE_LIMIT_MAX },
} as const;

/** The header `Idempotency-Key`: visible ASCII characters and spaces. */
export const IDEMPOTENCY_KEY = { pattern: '^[\\x20-\\x7e]+$', maxLength: 255 } as const;

/**
 * The name of an API key; its length is in code points. It has no control characters, line breaks, or characters that change the direction of
 * text.
 */
export const API_KEY_NAME = {
  minLength: 1,
  maxLength: API_KEY_NAME_MAX_CODE_POINTS,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]+$',
} as const;

/** A SHA-256 in base64. It has 32 bytes, so its last character holds only four bits. */
export const CHECKSUM_SHA256 = { pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' } as const;
