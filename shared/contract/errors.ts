/**
 * Every error that the service answers with. The body is exactly `{"error": "<code>"}` (only the 503 of `/health` has its own);
 * codes are never renamed. The table of errors in `docs/api.md` is generated from this object.
 */
export const ERRORS = {
  invalid_request: { status: 400, meaning: 'The request is malformed: body, parameter, header or form.' },
  unauthorized: { status: 401, meaning: 'No valid API key or session came with the request.' },
  storage_limit_exceeded: {
    status: 403,
    meaning: 'The account has no room for the file: its storage or its number of files is at the limit.',
  },
  forbidden: {
    status: 403,
    meaning:
      'A cookie request that changes state came from another site, or a request bypassed the address of the service.',
  },
  api_key_limit_exceeded: { status: 403, meaning: 'The account has the maximum number of API keys.' },
  not_found: { status: 404, meaning: 'Unknown route, unknown id, or an id of another account.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The route exists, but not with this method; `Allow` lists the ones it has.',
  },
  upload_incomplete: { status: 409, meaning: 'The bytes of a direct upload have not arrived yet.' },
  idempotency_conflict: {
    status: 409,
    meaning:
      'The `Idempotency-Key` was used for another file, or for the same file by the other kind of upload (form, ticket).',
  },
  length_required: { status: 411, meaning: 'Only a multipart body may come without a `Content-Length`.' },
  file_too_large: {
    status: 413,
    meaning:
      'The file is larger than one upload may be (`upload_max_bytes` of `GET /api/v1/usage`). Or the body of a request without a file is too large: JSON over 64 KiB, any other over 4 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is of a `Content-Type` that this route does not take, or has a `Content-Encoding`.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning:
      'Too many requests in a minute, too many bytes in a day, or too many large forms at the same time; `Retry-After` says how long to wait.',
  },
  internal_error: { status: 500, meaning: 'A fault of the service; the log has the cause, under the `X-Request-Id`.' },
  service_unavailable: {
    status: 503,
    meaning: 'A dependency is down or busy; try again after `Retry-After` seconds.',
  },
  timeout: { status: 504, meaning: 'The request took longer than the service allows.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;
