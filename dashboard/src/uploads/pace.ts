import { pause } from '../api/pause.ts';

/** Keeps a folder of files within the rate limit: the answers say how many more may come, and when. */
export class Pace {
  #notBefore = 0;

  /** True while nothing may be sent. */
  get isHolding(): boolean {
    return Date.now() < this.#notBefore;
  }

  /** Returns when the next upload may start. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      const milliseconds = this.#notBefore - Date.now();
      if (milliseconds <= 0) return;
      await pause(milliseconds / 1_000, signal);
    }
  }

  /**
   * Reads the limit's headers (draft-ietf-httpapi-ratelimit-headers-11): with none left (`r=0`) nothing is sent for `t`
   * seconds, and after a 429 for `Retry-After`.
   */
  learn(header: (name: string) => string | null): void {
    const [, left, seconds] = /;r=(\d+);t=(\d+)/.exec(header('RateLimit') ?? '') ?? [];
    if (left === '0') this.hold(Number(seconds));
  }

  hold(seconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, Date.now() + seconds * 1_000);
  }
}
