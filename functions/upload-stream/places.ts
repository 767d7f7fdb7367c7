import { type ApiError, serviceUnavailable } from '../../shared/errors.ts';

/**
 * The places of this process. A request takes one place while it is served. When few places are free, some requests must end.
 *
 * Lambda gives a process only a limited number of requests at the same time. When no process has a free place, Lambda refuses further
 * requests itself. So a quarter of the places is kept free for new requests. When more than three quarters are taken, we cut bodies: first
 * those of refused requests, then slow uploads. We stop when a quarter is free again, or when no such body is left. A fast upload is never
 * cut (decision 0015).
 */

/** Refused and slow bodies are cut as soon as less than this part of all places is free. */
const KEPT_FREE = 1 / 4;
/** A body that arrives at a lower rate is slow. */
export const FAST_BYTES_PER_SECOND = 128 * 1024;
/** The rate of a client is known when the server has waited this long for its bytes. */
const PACE_KNOWN_AFTER_MS = 2_000;
const CHECK_EVERY_MS = 1_000;
/** The use of places is reported after this many checks, while any place is taken. */
const REPORT_EVERY_CHECKS = 60;

/** The part of all places that the refused bodies of one owner may hold. Further refused bodies of this owner are cut instead of read. */
const REFUSED_OF_ONE_OWNER = 1 / 4;

/** The sender of a request: an account, or, without a valid credential, a stranger at an address. */
export interface Owner {
  readonly id: string;
  readonly isStranger: boolean;
}

/** A request that is being served. */
export interface Occupant {
  readonly body: {
    readonly waitedMs: number;
    readonly bytesPerSecond: number;
    readonly hasEnded: boolean;
    cut(failure: ApiError): void;
  };
  /** Undefined until it is known. */
  readonly owner: Owner | undefined;
  /**
   * True when the request was refused, and the server drains its body. A form that is refused while its upload reads it counts as an
   * upload.
   */
  readonly isRefused: boolean;
}

export class Places {
  readonly #total: number;
  readonly #report: (mostTaken: number) => void;
  readonly #occupants = new Set<Occupant>();
  #mostTaken = 0;
  #checks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param report  called once a minute, while any place is taken, with the largest number of places that were taken at once. */
  constructor(total: number, report: (mostTaken: number) => void) {
    this.#total = total;
    this.#report = report;
  }

  /** Takes a place. @returns a function that gives it back. */
  take(occupant: Occupant): () => void {
    this.#occupants.add(occupant);
    this.#mostTaken = Math.max(this.#mostTaken, this.#occupants.size);
    this.#timer ??= setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.makeRoom();
    return () => this.#leave(occupant);
  }

  /** True when an owner has more refused bodies in this process than it may. */
  hasTooManyRefused(owner: Owner): boolean {
    const refused = this.#of(owner).filter(({ isRefused }) => isRefused);
    return refused.length > this.#total * REFUSED_OF_ONE_OWNER;
  }

  /** Cuts refused and slow bodies until enough places are free, or no such body is left. Call this when a body was refused. */
  makeRoom(): void {
    while (this.#occupants.size > this.#total * (1 - KEPT_FREE)) {
      const first = this.#firstToGiveWay();
      if (!first) return;
      this.#occupants.delete(first);
      first.body.cut(
        serviceUnavailable({ detail: 'cut: places were short, and the body was refused already or came too slowly' }),
      );
    }
  }

  /**
   * The next body to cut. Refused bodies come first, whatever their pace and age, because their senders lose only the answer: those of
   * strangers, then those of accounts. Then come slow uploads. Within each group, the owner with the most places comes first. Of the bodies
   * of one owner, the slowest comes first.
   */
  #firstToGiveWay(): Known | undefined {
    const ranked = [...this.#occupants]
      .filter(isKnown)
      .filter((occupant) => isBeingDrained(occupant) || isSlow(occupant))
      .map((occupant) => ({ occupant, places: this.#of(occupant.owner).length }))
      .sort(
        (a, b) =>
          Number(b.occupant.owner.isStranger) - Number(a.occupant.owner.isStranger) ||
          Number(b.occupant.isRefused) - Number(a.occupant.isRefused) ||
          b.places - a.places ||
          a.occupant.body.bytesPerSecond - b.occupant.body.bytesPerSecond,
      );
    return ranked[0]?.occupant;
  }

  #of({ id }: Owner): Occupant[] {
    return [...this.#occupants].filter(({ owner }) => owner?.id === id);
  }

  #leave(occupant: Occupant): void {
    this.#occupants.delete(occupant);
    if (this.#occupants.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#checks = 0;
    this.#mostTaken = 0;
  }

  #check(): void {
    this.makeRoom();
    this.#checks += 1;
    if (this.#checks % REPORT_EVERY_CHECKS !== 0) return;
    this.#report(this.#mostTaken);
    this.#mostTaken = this.#occupants.size;
  }
}

type Known = Occupant & { readonly owner: Owner };

function isKnown(occupant: Occupant): occupant is Known {
  return occupant.owner !== undefined;
}

function isBeingDrained({ isRefused, body }: Occupant): boolean {
  return isRefused && !body.hasEnded;
}

function isSlow({ body }: Occupant): boolean {
  return !body.hasEnded && body.waitedMs >= PACE_KNOWN_AFTER_MS && body.bytesPerSecond < FAST_BYTES_PER_SECOND;
}
