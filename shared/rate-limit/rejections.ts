/** As many subjects as a process remembers; about 150 bytes each. */
const REMEMBERED_MAX = 1_000;

/**
 * Remembers, within one process, until when a subject has no request left, so that a client which does not wait costs
 * no write. It may reject, never admit: a slot that is in use stays so until its time, whatever other processes do.
 */
export class Rejections {
  readonly #until = new Map<string, number>();

  /** The end of the rejection of `key` in epoch milliseconds; undefined when none is known to last at `now`. */
  lasting(key: string, now: number): number | undefined {
    const until = this.#until.get(key);
    if (until === undefined || until > now) return until;
    this.#until.delete(key);
    return undefined;
  }

  /** When there is no room, whoever was remembered first is forgotten: that costs a write, no more. */
  remember(key: string, until: number): void {
    this.#until.delete(key);
    for (const oldest of this.#until.keys()) {
      if (this.#until.size < REMEMBERED_MAX) break;
      this.#until.delete(oldest);
    }
    this.#until.set(key, until);
  }
}
