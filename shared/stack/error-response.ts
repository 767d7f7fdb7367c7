import type middy from '@middy/core';
import { ApiError } from '../errors.ts';
import type { ApiEvent, ApiResult } from '../http/event.ts';

/**
 * Turns what was thrown into `{"error": code}`. Anything but an {@link ApiError} is `internal_error`, and only the log
 * learns what it was. The last `.use` of the stack: `onError` hooks run from the last to the first, so every other hook
 * finds the response there.
 */
export function errorResponse(): middy.MiddlewareObj<ApiEvent, ApiResult> {
  function errorResponseOnError(request: middy.Request<ApiEvent, ApiResult>): void {
    const error = asApiError(request.error);
    request.response = {
      statusCode: error.status,
      headers: { 'Content-Type': 'application/json', ...error.headers },
      body: JSON.stringify({ error: error.code }),
    };
  }
  return { onError: errorResponseOnError };
}

/** The error a client is told of for what was thrown. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown });
}
