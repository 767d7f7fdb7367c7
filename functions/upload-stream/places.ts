import { STREAMING_PLACES_PER_ACCOUNT, STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/contract/limits.ts';
import { type ApiError, serviceUnavailable } from '../../shared/errors.ts';

/** Places are short while more than this many are taken. When all are taken, Lambda sends the process no further request. */
const PLENTY = (STREAMING_PLACES_PER_ENVIRONMENT * 3) / 4;
/** A body that arrives at this rate or faster is never cut, unless its request was refused. */
export const FAST_BYTES_PER_SECOND = 128 * 1024;
const CHECK_EVERY_MS = 1_000;
const REPORT_EVERY_CHECKS = 60;

interface Place {
  readonly body: {
    readonly bytesPerSecond: number;
    readonly hasEnded: boolean;
    cut(failure: ApiError): void;
  };
  /** The account whose upload was admitted. */
  accountId?: string;
  /** True when the request was refused, and its body is only read to its end. */
  isRefused: boolean;
}

/**
 * The places of this process: each holds a request while it is served. One account may have 16 uploads here. When places are short, the
 * process cuts refused bodies first, then the slowest ones (decision 0015).
 */
export class Places {
  readonly #taken = new Map<object, Place>();
  readonly #report: (taken: number) => void;
  #checks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param report  called once a minute, while any place is taken, with the number of places that are taken. */
  constructor(report: (taken: number) => void) {
    this.#report = report;
  }

  take(request: object, body: Place['body']): void {
    this.#taken.set(request, { body, isRefused: false });
    this.#timer ??= setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#makeRoom();
  }

  /** @returns false when the account has as many uploads in this process as it may. */
  admit(request: object, accountId: string): boolean {
    const place = this.#taken.get(request);
    const uploads = [...this.#taken.values()].filter((each) => each.accountId === accountId && !each.isRefused);
    if (!place || uploads.length >= STREAMING_PLACES_PER_ACCOUNT) return false;
    place.accountId = accountId;
    return true;
  }

  /** From now on the body of this request is a refused one. */
  refuse(request: object): void {
    const place = this.#taken.get(request);
    if (place) place.isRefused = true;
    this.#makeRoom();
  }

  leave(request: object): void {
    this.#taken.delete(request);
    if (this.#taken.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #makeRoom(): void {
    const excess = Math.max(0, this.#taken.size - PLENTY);
    const inOrder = [...this.#taken]
      .filter(([, place]) => !place.body.hasEnded && rank(place) < FAST_BYTES_PER_SECOND)
      .sort(([, a], [, b]) => rank(a) - rank(b));
    for (const [request, { body }] of inOrder.slice(0, excess)) {
      this.#taken.delete(request);
      body.cut(serviceUnavailable({ detail: 'cut: places were short, and the body was refused or came too slowly' }));
    }
  }

  /** A body whose rate becomes known only after the last request has come is found here. */
  #check(): void {
    this.#makeRoom();
    this.#checks += 1;
    if (this.#checks % REPORT_EVERY_CHECKS === 0) this.#report(this.#taken.size);
  }
}

/** Refused bodies come before the slowest. */
function rank({ isRefused, body }: Place): number {
  return isRefused ? -1 : body.bytesPerSecond;
}
