import { type ApiError, serviceUnavailable } from '../../shared/errors.ts';

/**
 * How many requests this process serves at once, and which of them give way when places are short.
 *
 * Lambda gives a process so many requests at once and no more: one that finds no free place anywhere is refused before
 * anything of ours sees it. So a part of the places is kept free for those who come next. As soon as more than the rest are
 * taken, bodies that are refused already are cut, then slow ones, for as long as there are any. A fast upload never is.
 * Decision 0015.
 */

/** Of all places of a process: this part is kept free of refused and of slow bodies. */
const KEPT_FREE = 1 / 4;
/** Slow, when places are short: a body that comes at less than this. */
export const FAST_BYTES_PER_SECOND = 128 * 1024;
/** Before the server has waited for a client this long, its pace is not known. */
const PACE_KNOWN_AFTER_MS = 2_000;
const CHECK_EVERY_MS = 1_000;
/** The use of places is reported every so many checks, while there is any. */
const REPORT_EVERY_CHECKS = 60;

/** The part of all places that one owner's refused bodies may hold: beyond, they are cut instead of read. */
const REFUSED_OF_ONE_OWNER = 1 / 4;

/** Who sends a request: an account, or whatever is at an address and has no valid credential. */
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
  /** Its answer is decided; the body is read only so that its client reads the answer. */
  readonly isRefused: boolean;
}

export class Places {
  readonly #total: number;
  readonly #report: (mostTaken: number) => void;
  readonly #occupants = new Set<Occupant>();
  #mostTaken = 0;
  #checks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param report  is told once a minute, while any place is taken, how many were at the most. */
  constructor(total: number, report: (mostTaken: number) => void) {
    this.#total = total;
    this.#report = report;
  }

  /** @returns what gives the place back. */
  take(occupant: Occupant): () => void {
    this.#occupants.add(occupant);
    this.#mostTaken = Math.max(this.#mostTaken, this.#occupants.size);
    this.#timer ??= setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#makeRoom();
    return () => this.#leave(occupant);
  }

  /** True when more refused bodies of one owner are here than are worth a place. */
  isCrowdedBy(owner: Owner): boolean {
    const refused = this.#of(owner).filter(({ isRefused }) => isRefused);
    return refused.length > this.#total * REFUSED_OF_ONE_OWNER;
  }

  /** Cuts refused and slow bodies until enough places are free, or none of them is left. */
  #makeRoom(): void {
    while (this.#occupants.size > this.#total * (1 - KEPT_FREE)) {
      const first = this.#firstToGiveWay();
      if (!first) return;
      this.#occupants.delete(first);
      first.body.cut(
        serviceUnavailable({ detail: 'cut: places were short, and it was refused already or came too slowly' }),
      );
    }
  }

  /**
   * Refused bodies first, whatever their pace and age, because their sender gets nothing but the reason: those of strangers,
   * then those of accounts. Then slow uploads. Among each, the owner with the most places here; of its bodies the slowest.
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
    this.#makeRoom();
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
