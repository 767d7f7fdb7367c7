import type { MiddlewareStack } from '@smithy/types';
import { ApiError } from '../errors.ts';

/** What a client is told to wait, in seconds, when a dependency is down or throttles us. */
const RETRY_AFTER_SECONDS = 1;

interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $retryable?: { readonly throttling?: boolean };
  readonly code?: string;
}

/** Names AWS gives to "not now" although the status is 400. */
const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'SlowDown',
  'TransactionInProgressException',
]);

/** Names Node and the SDK give to a connection that failed or took too long. */
const UNREACHABLE = new Set([
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'NetworkingError',
  'AbortError',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** True when AWS could not serve the call now: throttled, failing, unreachable or too slow. Not when it refused it. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata, $retryable } = error as SdkError;
  if ($retryable !== undefined || THROTTLES.has(name)) return true;
  if (UNREACHABLE.has(name) || (code !== undefined && UNREACHABLE.has(code))) return true;
  return ($metadata?.httpStatusCode ?? 0) >= 500;
}

/** The `service_unavailable` (503) a client is answered with when a dependency failed for the reason in `cause`. */
export function serviceUnavailable(cause: unknown): ApiError {
  return new ApiError('service_unavailable', { cause, headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

/**
 * Makes every transient failure that a client's own retries did not mend a `service_unavailable`, in this one place.
 * Refusals (a failed condition, a missing key, a missing grant) pass unchanged: the stores translate those they expect.
 */
export function translateFailures<Input extends object, Output extends object>(client: {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
}): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw isTransient(error) ? serviceUnavailable(error) : error;
      }
    },
    { step: 'initialize', priority: 'high', name: 'translateFailures' },
  );
}
