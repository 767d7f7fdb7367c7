import type { Wait } from '../../typescript/src/index.ts';
import { countOf } from './format.ts';
import { note } from './terminal.ts';

/** Says only once why requests wait, even when several requests wait for the same reason. */
export class Waits {
  #until = 0;

  /** @returns the reason as text; undefined when it was returned before, or the wait is shorter than a second. */
  add({ code, seconds }: Wait): string | undefined {
    const until = Date.now() + seconds * 1_000;
    const isKnown = until < this.#until + 1_000;
    this.#until = Math.max(until, this.#until);
    if (isKnown || seconds < 1) return undefined;
    if (code === 'rate_limit_exceeded') return 'waiting for the rate limit';
    return code === 'network_error' || code === 'stalled'
      ? 'no connection, trying again'
      : 'service busy, trying again';
  }

  /** Prints the reason that {@link add} returns, if any, as a line. */
  readonly mention = (wait: Wait): void => {
    const reason = this.add(wait);
    if (reason) note(`${reason}, ${countOf(Math.ceil(wait.seconds), 'second')}`);
  };

  get secondsLeft(): number {
    return Math.max(0, (this.#until - Date.now()) / 1_000);
  }
}
