import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context } from 'aws-lambda';
import { ApiError } from './errors.ts';

/**
 * How long the work at hand may take. Every call to AWS is made under the limit of the work that makes it, wherever it is in
 * the code (see `aws/failures.ts`): once the time is over, or the work has ended, what it still has under way is aborted and
 * nothing more begins. A frozen function that the next request thaws therefore does nothing more for the request before.
 *
 * An invocation ends like this, in milliseconds before Lambda would end it:
 *
 *     6,500  deadlineAt: no transaction starts after this
 *     4,500  the last one is cut off (a call more); whether it happened is unknown
 *       500  the upload is given up (a write more), which proves that it did not happen, or finds its file; the limit, and
 *            the early answer
 */

/** How long one attempt of a call to the database may take. Single-digit milliseconds are usual: what takes longer is lost. */
export const DATABASE_CALL_MS = 2_000;
/** How long one write of one item waits for the transactions at work on it, a few milliseconds each, before its last attempt. */
export const WRITE_PATIENCE_MS = 2_000;
/** How long work may go on after its deadline: a last call, and a write that gives up. */
export const WORK_AFTER_DEADLINE_MS = DATABASE_CALL_MS + (WRITE_PATIENCE_MS + DATABASE_CALL_MS);
/**
 * How long a request waits for what only tidies up after its outcome is decided, such as the removal of a deleted file's
 * object. It takes 50 ms as a rule; what does not is left to the sweeper.
 */
export const TIDYING_MS = 2_000;
/** What is left for an answer of our own when the time is over. */
const ANSWERING_MS = 500;

/** Node takes no longer timer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

const limits = new AsyncLocalStorage<AbortSignal>();

/** The signal that ends the work at hand; undefined when it may take as long as it takes. */
export function timeLimit(): AbortSignal | undefined {
  return limits.getStore();
}

/**
 * Does work that has to end by a time, under a limit of its own within the one at hand.
 * @param endsAt  epoch milliseconds.
 * @param reason  what calls to AWS throw after that; `timeout` unless given.
 */
export async function limited<Result>(
  endsAt: number,
  work: () => Promise<Result>,
  reason: () => ApiError = () => new ApiError('timeout', { detail: 'its time was over' }),
): Promise<Result> {
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(reason()), Math.min(Math.max(0, endsAt - Date.now()), TIMER_MAX_MS));
  const outer = timeLimit();
  try {
    return await limits.run(outer ? AbortSignal.any([outer, own.signal]) : own.signal, work);
  } finally {
    clearTimeout(timer);
    own.abort(new ApiError('timeout', { detail: 'the work it belonged to has ended' }));
  }
}

/** What the work at hand waits for, until its time is over. @throws the reason of the limit then. */
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

/** Does work that several requests wait for: it goes on when the one that began it ends. Each waits {@link inTime}. */
export function unlimited<Result>(work: () => Promise<Result>): Promise<Result> {
  return limits.exit(work);
}

/** Does what only tidies up: one short try, which ends in time. @throws whatever stood in its way. */
export function briefly(work: () => Promise<void>): Promise<void> {
  return limited(Date.now() + TIDYING_MS, () => inTime(work()));
}

/** Until when work may begin what cannot be taken back. */
export interface Deadline {
  /** No attempt of a transaction starts after this (epoch milliseconds). */
  readonly deadlineAt: number;
}

/** @throws ApiError `timeout` when the deadline has passed: nothing has begun then. */
export function checkDeadline({ deadlineAt }: Deadline): void {
  if (Date.now() >= deadlineAt) throw new ApiError('timeout', { detail: 'too late to begin' });
}

/** What of Lambda's context says how long an invocation may still take. */
type Invocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** Does the work of an invocation under its limit: the sum at the top of this file. */
export function withinInvocation<Result>(invocation: Invocation, work: () => Promise<Result>): Promise<Result> {
  return limited(endOf(invocation), work);
}

/** The deadline of the work of an invocation. */
export function deadlineOf(invocation: Invocation): Deadline {
  return { deadlineAt: endOf(invocation) - WORK_AFTER_DEADLINE_MS };
}

function endOf({ getRemainingTimeInMillis }: Invocation): number {
  return Date.now() + getRemainingTimeInMillis() - ANSWERING_MS;
}
