import type { MiddlewareStack } from '@smithy/types';
import { serviceUnavailable } from '../errors.ts';
import { timeLimit } from '../time-limit.ts';

interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $retryable?: { readonly throttling?: boolean };
  readonly code?: string;
}

/** The names of transient errors whose status is 400. */
const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'SlowDown',
  'TransactionInProgressException',
]);

/** The names that Node and the SDK give to a connection that failed or took too long. */
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

/**
 * True when AWS refused the call because its clock and ours differ, for example after a step of one of them. The SDK learns the difference
 * from each answer, so the next call is signed by AWS's clock. The name is also that of a signature by a wrong key, which stays wrong.
 */
function isClockStep({ name, message }: Error): boolean {
  if (name === 'RequestTimeTooSkewed') return true;
  return name === 'InvalidSignatureException' && /^Signature (expired|not yet current)/.test(message);
}

/**
 * True when AWS could not serve the call now: AWS throttled it, failed, was unreachable or was too slow, or its clock differs. False when
 * AWS refused it for good.
 */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata, $retryable } = error as SdkError;
  if ($retryable !== undefined || THROTTLES.has(name) || isClockStep(error)) return true;
  if (UNREACHABLE.has(name) || (code !== undefined && UNREACHABLE.has(code))) return true;
  return ($metadata?.httpStatusCode ?? 0) >= 500;
}

/**
 * True when a policy denies the call with `Deny`. An operator stops uploads in this way (docs/operate.md, "Stopping traffic"). The
 * templates have `Deny` only for requests without TLS, so any other `Deny` counts as an operator's. Source of the message: S3 User Guide,
 * "Troubleshoot access denied (403 Forbidden) errors".
 */
function isStoppedByOperator(error: unknown): boolean {
  return (
    error instanceof Error && /^AccessDenied/.test(error.name) && error.message.includes('with an explicit deny in ')
  );
}

interface AwsClient<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
  send: unknown;
}

/**
 * Prepares a client. Each of its calls keeps the time limit of the work that makes the call (`time-limit.ts`). Every transient failure that remains after the client's own retries becomes `service_unavailable`. So does
 * the refusal of a call that an operator has stopped. Other refusals (a failed condition, a missing key, a missing grant) pass unchanged:
 * the stores translate those that they expect.
 */
export function limitAndTranslate<Input extends object, Output extends object>(client: AwsClient<Input, Output>): void {
  abortInTime(client);
  client.middlewareStack.add(
    (next) => async (args) => {
      const limit = timeLimit();
      limit?.throwIfAborted();
      try {
        return await next(args);
      } catch (error) {
        // If the time limit has aborted the call, this throws the reason that the limit gives, not the error of the SDK.
        limit?.throwIfAborted();
        if (isStoppedByOperator(error)) throw serviceUnavailable({ detail: 'stopped by an operator', cause: error });
        throw isTransient(error) ? serviceUnavailable({ cause: error }) : error;
      }
    },
    { step: 'initialize', priority: 'high', name: 'limitAndTranslate' },
  );
}

/**
 * Adds the signal of the time limit to each call, because the SDK takes no signal for a whole client. The signal ends the request that is
 * under way, and the waits between attempts.
 */
function abortInTime(client: { send: unknown }): void {
  type Send = (command: unknown, options?: { abortSignal?: AbortSignal }) => Promise<unknown>;
  const send = (client.send as Send).bind(client);
  client.send = (...[command, options = {}]: Parameters<Send>) => {
    const signals = [timeLimit(), options.abortSignal].filter((signal) => signal !== undefined);
    return send(command, signals.length > 0 ? { ...options, abortSignal: AbortSignal.any(signals) } : options);
  };
}
