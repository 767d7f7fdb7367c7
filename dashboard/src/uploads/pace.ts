import { pause } from '../api/pause.ts';

/** Keeps a folder of files within the rate limit: the answers say how many more may come, and when. */
export class Pace {
  #notBefore = 0;
  /** How many may come in each window, how long one is, and what is left of this one, as the last answer said. */
  #limit: { quota: number; windowSeconds: number; left: number; resetAt: number } | undefined;

  /** True while nothing may be sent. */
  get isHolding(): boolean {
    return Date.now() < this.#notBefore;
  }

  /** Milliseconds since 1970, from when on something may be sent. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** How long the limit makes so many more uploads take at least, in seconds. */
  secondsFor(uploads: number): number {
    const limit = this.#limit;
    const now = Date.now();
    const held = Math.max(0, this.#notBefore - now) / 1_000;
    if (!limit || uploads <= limit.left) return held;
    const untilReset = Math.max(held, (limit.resetAt - now) / 1_000, 0);
    return untilReset + Math.floor((uploads - limit.left - 1) / limit.quota) * limit.windowSeconds;
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
    const [, quota, window] = /;q=(\d+);w=(\d+)/.exec(header('RateLimit-Policy') ?? '') ?? [];
    if (left === '0') this.hold(Number(seconds));
    if (left !== undefined && quota !== undefined) {
      const resetAt = Date.now() + Number(seconds) * 1_000;
      this.#limit = { quota: Math.max(1, Number(quota)), windowSeconds: Number(window), left: Number(left), resetAt };
    }
  }

  hold(seconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, Date.now() + seconds * 1_000);
  }
}
