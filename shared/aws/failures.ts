import type { MiddlewareStack } from '@smithy/types';
import { serviceUnavailable } from '../errors.ts';
import { timeLimit } from '../time-limit.ts';

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

interface AwsClient<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
  send: unknown;
}

/**
 * Makes every call of a client keep to the time limit of the work that makes it (`time-limit.ts`), and every transient
 * failure that the client's own retries did not mend a `service_unavailable`, in this one place. Refusals (a failed
 * condition, a missing key, a missing grant) pass unchanged: the stores translate those they expect.
 */
export function prepare<Input extends object, Output extends object>(client: AwsClient<Input, Output>): void {
  abortInTime(client);
  client.middlewareStack.add(
    (next) => async (args) => {
      const limit = timeLimit();
      limit?.throwIfAborted();
      try {
        return await next(args);
      } catch (error) {
        // Aborted by us, so the reason is ours, too.
        limit?.throwIfAborted();
        throw isTransient(error) ? serviceUnavailable({ cause: error }) : error;
      }
    },
    { step: 'initialize', priority: 'high', name: 'prepare' },
  );
}

/** The SDK takes a signal for each call alone, for the request on its way as for the waits between its attempts. */
function abortInTime(client: { send: unknown }): void {
  type Send = (command: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>;
  const send = (client.send as Send).bind(client);
  client.send = (...[command, options = {}]: Parameters<Send>) => {
    const signals = [timeLimit(), options.abortSignal].filter((signal) => signal !== undefined);
    return send(command, signals.length > 0 ? { ...options, abortSignal: AbortSignal.any(signals) } : options);
  };
}
