import type { MiddlewareStack } from '@smithy/types';
import { serviceUnavailable } from '../errors.ts';

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
        throw isTransient(error) ? serviceUnavailable({ cause: error }) : error;
      }
    },
    { step: 'initialize', priority: 'high', name: 'translateFailures' },
  );
}
