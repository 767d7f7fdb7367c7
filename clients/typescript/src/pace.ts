import { LONGEST_WAIT_SECONDS } from './error.ts';
import { pause } from './retry.ts';

const now = () => performance.now() / 1_000;

/**
 * Lets requests of one class wait while the rate limit is used up. The headers of the answers say how much of the limit is left. Requests
 * that are sent at the same time may still exceed the limit: then some are answered 429, and are sent again.
 */
export class Pace {
  /** In seconds, like all times here. */
  #notBefore = 0;
  /** The limit as of the last answer: requests per window, length of a window, and what is left of the current one. */
  #limit: { quota: number; window: number; left: number; resetAt: number } | undefined;

  /**
   * @returns the shortest time, in seconds, within which the limit allows this many more requests; for 0 requests, the time until
   * one may be sent.
   */
  secondsFor(requests: number): number {
    const limit = this.#limit;
    const held = Math.max(0, this.#notBefore - now());
    if (!limit || requests <= limit.left) return held;
    const untilReset = Math.max(held, limit.resetAt - now(), 0);
    return untilReset + Math.floor((requests - limit.left - 1) / limit.quota) * limit.window;
  }

  /**
   * Resolves when the next request may be sent.
   * @param onWait  called before each wait.
   * @throws FileHostingError `aborted`.
   */
  async waitUntilAllowed(onWait?: (seconds: number) => void, signal?: AbortSignal): Promise<void> {
    for (;;) {
      const seconds = this.secondsFor(0);
      if (seconds <= 0) return;
      onWait?.(seconds);
      await pause(seconds, signal);
    }
  }

  /**
   * Reads the rate-limit headers of an answer (draft-ietf-httpapi-ratelimit-headers-11). When no requests are left (`r=0`), nothing
   * is sent for `t` seconds.
   */
  learn(header: (name: string) => string | null): void {
    const [, left, seconds] = /;r=(\d+);t=(\d+)/.exec(header('RateLimit') ?? '') ?? [];
    const [, quota, window] = /;q=(\d+);w=(\d+)/.exec(header('RateLimit-Policy') ?? '') ?? [];
    if (left === '0') this.hold(Number(seconds));
    if (left !== undefined && quota !== undefined) {
      const resetAt = now() + Number(seconds);
      this.#limit = { quota: Math.max(1, Number(quota)), window: Number(window), left: Number(left), resetAt };
    }
  }

  /**
   * After a 429, holds further requests for as long as its `Retry-After` says. A 429 about the bytes of the day holds nothing, because
   * other requests are still allowed.
   */
  refused(retryAfter = 0): void {
    if (retryAfter <= LONGEST_WAIT_SECONDS) this.hold(retryAfter);
  }

  /** Sends nothing for this many seconds. */
  hold(seconds: number): void {
    this.#notBefore = Math.max(this.#notBefore, now() + seconds);
  }
}
