import { abortedError, type ErrorCode, FileHostingError } from './error.ts';

/** The first wait is a random part of this maximum. The maximum doubles with each further wait, up to the second value. */
const FIRST_BACKOFF_SECONDS = 1;
const LONGEST_BACKOFF_SECONDS = 30;

/** An answer 429 does not count as a failed attempt. But after more than this many answers 429, the call fails. */
const HELD_MAX = 50;

/** Why and how long a call waits before its next request. */
export interface Wait {
  /** The error of the last attempt, or `rate_limit_exceeded` when the next request would exceed the limit. */
  readonly code: ErrorCode;
  readonly seconds: number;
}

export interface RetryOptions {
  /**
   * How often the call is repeated after failed attempts. Default 5. Waiting for the rate limit does not count. With 0 there is one
   * attempt, which does not wait for the rate limit.
   */
  readonly retries?: number | undefined;
  /** When this signal is aborted, the call ends with the error `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
}

export interface Repetition {
  /** Whether the call may be repeated after an error. */
  readonly canRepeat?: ((error: FileHostingError) => boolean) | undefined;
}

/**
 * Repeats `work` after temporary errors. Before each repetition it waits for an exponential backoff with full jitter. If the error has a
 * `Retry-After`, it waits for that time in addition.
 * @param work  gets the error of the last attempt.
 * @throws FileHostingError of the last attempt, or `aborted`.
 */
export async function retry<Result>(
  work: (last: FileHostingError | undefined) => Promise<Result>,
  { retries = 5, signal, onWait, canRepeat = () => retries > 0 }: RetryOptions & Repetition,
): Promise<Result> {
  let last: FileHostingError | undefined;
  for (let [failed, held] = [0, 0]; ; ) {
    try {
      return await work(last);
    } catch (error) {
      if (!(error instanceof FileHostingError && error.isTemporary && canRepeat(error))) throw error;
      const isHeld = error.code === 'rate_limit_exceeded';
      if (isHeld ? ++held > HELD_MAX : ++failed > retries) throw error;
      last = error;
      const backoff = Math.min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** ((isHeld ? held : failed) - 1));
      const seconds = (error.retryAfter ?? 0) + Math.random() * backoff;
      onWait?.({ code: error.code, seconds });
      await pause(seconds, signal);
    }
  }
}

/** Resolves after `seconds`. @throws FileHostingError `aborted` when `signal` is aborted. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, seconds * 1_000);
  });
  return unlessAborted(over, signal).finally(() => clearTimeout(timer));
}

/** Settles like `promise`. @throws FileHostingError `aborted` when `signal` is aborted first. */
export function unlessAborted<Result>(promise: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortedError(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
