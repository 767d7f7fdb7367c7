import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'aws-lambda';
import { ApiError } from './errors.ts';

/**
 * How long the current work may take (decision 0017). Every call to AWS, wherever it is in the code (see `aws/failures.ts`), runs under the
 * limit of the work that makes the call. When the time is over, or the work has ended, its calls are aborted and no new ones begin. Lambda
 * freezes a function after its answer, and resumes it at the next request. The limit makes sure that no work of the earlier request goes on
 * then.
 *
 * An invocation ends like this, in milliseconds before Lambda would end it:
 *
 *     6,500  deadlineAt: no transaction starts after this
 *     4,500  the last transaction is aborted; whether it happened is unknown (decision 0040)
 *       500  the lease on a ticket, or its reservation, has been given back; the limit is reached, and we answer
 */

/** How long one attempt of a call to the database may take. A few milliseconds are usual, so a call that takes this long has been lost. */
export const DATABASE_CALL_MS = 2_000;
/**
 * How long the write of one item is repeated while DynamoDB refuses it because of transactions on the item. Each transaction takes a few
 * milliseconds.
 */
export const WRITE_PATIENCE_MS = 2_000;
/** How long work may go on after its deadline: the time of a last call, and of the write that gives a lease or a reservation back. */
export const WORK_AFTER_DEADLINE_MS = DATABASE_CALL_MS + (WRITE_PATIENCE_MS + DATABASE_CALL_MS);
/**
 * How long a request waits for work that does not change its outcome, such as the removal of a deleted file's object. Such a removal
 * usually takes 50 ms. When it takes longer than this limit, the sweeper does it.
 */
export const TIDYING_MS = 2_000;
/** The time left for our own answer when the limit is reached. */
const ANSWERING_MS = 500;

/** The longest timer that Node takes. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const limits = new AsyncLocalStorage<AbortSignal>();

/** The signal that aborts the current work; undefined when it has no limit. */
export function timeLimit(): AbortSignal | undefined {
  return limits.getStore();
}

/**
 * Runs work under its own limit, within the current one.
 * @param endsAt  epoch milliseconds.
 * @param reason  the error that calls to AWS throw after `endsAt`; `timeout` by default.
 */
export async function limited<Result>(
  endsAt: number,
  work: () => Promise<Result>,
  reason: () => ApiError = () => new ApiError('timeout', { detail: 'the time limit of the request was reached' }),
): Promise<Result> {
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(reason()), Math.min(Math.max(0, endsAt - Date.now()), TIMER_MAX_MS));
  const outer = timeLimit();
  try {
    return await limits.run(outer ? AbortSignal.any([outer, own.signal]) : own.signal, work);
  } finally {
    clearTimeout(timer);
    own.abort(new ApiError('timeout', { detail: 'the work that made this call has ended' }));
  }
}

/**
 * Waits for a promise, but not beyond the limit of the current work.
 * @throws the error of the limit when the limit is reached first.
 */
export async function inTime<Result>(awaited: Promise<Result>): Promise<Result> {
  const signal = timeLimit();
  if (!signal) return awaited;
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([awaited, over]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Runs work that several requests wait for, each by {@link inTime}. The work goes on when the request that began it ends. */
export function unlimited<Result>(work: () => Promise<Result>): Promise<Result> {
  return limits.exit(work);
}

/** Tries work that changes no outcome: once, for at most {@link TIDYING_MS}. @throws the error of the work, or `timeout`. */
export function briefly(work: () => Promise<void>): Promise<void> {
  return limited(Date.now() + TIDYING_MS, () => inTime(work()));
}

/** Until when work may begin something that cannot be undone. */
export interface Deadline {
  /** No attempt of a transaction starts after this (epoch milliseconds). */
  readonly deadlineAt: number;
}

/** @throws ApiError `timeout` when the deadline has passed. */
export function checkDeadline({ deadlineAt }: Deadline): void {
  if (Date.now() >= deadlineAt) throw new ApiError('timeout', { detail: 'the deadline has passed' });
}

/** The part of Lambda's context that says how long an invocation may still take. */
type Invocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** Runs the work of an invocation under its limit (see the top of this file). */
export function withinInvocation<Result>(invocation: Invocation, work: () => Promise<Result>): Promise<Result> {
  return limited(endOf(invocation), work);
}

export function deadlineOf(invocation: Invocation): Deadline {
  return { deadlineAt: endOf(invocation) - WORK_AFTER_DEADLINE_MS };
}

function endOf({ getRemainingTimeInMillis }: Invocation): number {
  return Date.now() + getRemainingTimeInMillis() - ANSWERING_MS;
}
