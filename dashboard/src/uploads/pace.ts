import { pause } from '../api/pause.ts';

/** Keeps uploads within the rate limit, which it learns from the headers of the answers. */
export class Pace {
  #notBefore = 0;
  /** The limit as of the last answer: requests per window, length of a window, and what is left of the current one. */
  #limit: { quota: number; windowSeconds: number; left: number; resetAt: number } | undefined;

  /** True while nothing may be sent. */
  get isHolding(): boolean {
    return Date.now() < this.#notBefore;
  }

  /** Nothing may be sent before this time (epoch milliseconds). */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** Returns the shortest time in seconds in which the limit allows this many more uploads. */
  secondsFor(uploads: number): number {
    const limit = this.#limit;
    const now = Date.now();
    const held = Math.max(0, this.#notBefore - now) / 1_000;
    if (!limit || uploads <= limit.left) return held;
    const untilReset = Math.max(held, (limit.resetAt - now) / 1_000, 0);
    return untilReset + Math.floor((uploads - limit.left - 1) / limit.quota) * limit.windowSeconds;
  }

  /** Resolves when the next upload may start. @throws the reason of `signal` when it is aborted. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      const milliseconds = this.#notBefore - Date.now();
      if (milliseconds <= 0) return;
      await pause(milliseconds / 1_000, signal);
    }
  }

  /**
   * Reads the rate-limit headers of an answer (draft-ietf-httpapi-ratelimit-headers-11). With none left (`r=0`) nothing is
   * sent for `t` seconds.
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

  /** Sends nothing for this many seconds, for example after a 429. */
  hold(seconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, Date.now() + seconds * 1_000);
  }
}
