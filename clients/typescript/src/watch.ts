import { connectionError } from './connection-error.ts';
import { abortedError, FileHostingError } from './error.ts';

/** Aborts an exchange when its caller aborts it, or when no byte moves for too long. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #seconds: number;
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  hasStalled = false;
  /** Why the body could not be read to its end. */
  unreadable: unknown;
  /** What the caller's `onSent` has thrown. */
  callbackError: { readonly thrown: unknown } | undefined;

  constructor(seconds: number, caller: AbortSignal | undefined) {
    this.#seconds = seconds;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#abort, { once: true });
  }

  readonly #abort = () => this.#controller.abort();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the timer again. @param more  seconds to add to the time after which an exchange counts as stalled. */
  moved(more = 0): void {
    clearTimeout(this.#timer);
    // After an early answer the body may still be read. A timer would then keep the process running.
    if (this.#isOver) return;
    const onStalled = () => {
      this.hasStalled = true;
      this.#abort();
    };
    this.#timer = setTimeout(onStalled, (this.#seconds + more) * 1_000);
  }

  /** Stops the timer while we wait for the caller's stream, which may be slow. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  /** The error of an exchange that has ended with `cause`. @param isKnown  see {@link connectionError}. */
  errorOf(cause: unknown, isKnown?: boolean): FileHostingError {
    if (this.#caller?.aborted) return abortedError(this.#caller);
    return this.hasStalled ? new FileHostingError('stalled', { cause }) : connectionError(cause as Error, isKnown);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#abort);
  }
}
