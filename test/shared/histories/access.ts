import { DAY_MS, HOUR_MS, MINUTE_MS } from './clock.ts';

export interface Answer {
  /** 0 when there was none. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the model reads what the documents promise, and a wrong answer fails there.
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

export const NO_ANSWER: Answer = { status: 0, body: {}, headers: {} };

/** `unborn?`: it may exist, or appear. `gone?`: it existed, and may have been removed, or be removed yet. */
export type Existence = 'no' | 'yes' | 'unborn?' | 'gone?';

/** An API key or a session. */
export interface Credential {
  readonly name: string;
  header?: Readonly<Record<string, string>>;
  id?: string;
  exists: Existence;
  readonly madeAt: number;
  usedAt: number;
}

export interface Limits {
  readonly STORAGE_LIMIT_BYTES: number;
  readonly FILE_COUNT_LIMIT: number;
  readonly UPLOAD_BYTES_PER_DAY: number;
  readonly MAX_UPLOAD_SIZE_BYTES: number;
  readonly RATE_LIMIT_UPLOADS_PER_MINUTE: number;
  readonly RATE_LIMIT_LISTS_PER_MINUTE: number;
  readonly RATE_LIMIT_REQUESTS_PER_MINUTE: number;
}

export class Disagreement extends Error {
  override name = 'Disagreement';
}

/** How far two clocks of the service may be apart. */
export const APART_MS = 3_000;
/** How long after a 5xx the request may still happen. */
export const LATE_MS = 10 * MINUTE_MS;
export const isUnknown = ({ status }: Answer) => status === 0 || status >= 500;

export function agree(holds: unknown, problem: string): asserts holds {
  if (!holds) throw new Disagreement(problem);
}

/** A request that has run beside later steps may be refused for what was true before them, as when a file is not there yet; but with these alone. */
export function agreeRefusal(status: number, ...own: readonly number[]): void {
  agree([401, 429, ...own].includes(status), `${status} is no answer to a late request`);
}

/** The part of the model about credentials and rate limits. See `model.ts`. */
export class Access {
  readonly keys: Credential[] = [];
  readonly sessions: Credential[] = [];
  isSuspended = false;
  /** True from the deletion of the account to the next login. */
  isGone = false;
  /** Counts the steps of the history. */
  step = 0;
  protected readonly limits: Limits;
  protected readonly now: () => number;
  readonly #admitted: { as: string; at: number; isSure: boolean }[] = [];

  constructor(limits: Limits, now: () => number) {
    this.limits = limits;
    this.now = now;
  }

  isValid({ exists, header, madeAt, usedAt }: Credential): boolean | undefined {
    if (exists === 'no' || this.isSuspended) return false;
    if (header?.cookie !== undefined) {
      const idle = this.now() - usedAt;
      if (idle > 7 * DAY_MS + APART_MS || this.now() - madeAt > 30 * DAY_MS + APART_MS) return false;
      // The end of an idle session may come an hour early.
      if (idle > 7 * DAY_MS - HOUR_MS - APART_MS || this.now() - madeAt > 30 * DAY_MS - APART_MS) return undefined;
    }
    return exists === 'yes' ? true : undefined;
  }

  /**
   * Checks credential and rate limit, in this order, before the request itself.
   * @returns true when the answer is about the request itself.
   */
  admits(as: 'UPLOADS' | 'LISTS' | 'REQUESTS', who: Credential, answer: Answer): boolean {
    const isValid = this.isValid(who);
    const now = this.now();
    if (answer.status === 401) agree(isValid !== true, `${who.name} is valid`);
    if (answer.status === 401) return false;
    if (!isUnknown(answer)) agree(isValid !== false, `${who.name} is not valid`);
    if (isValid) who.usedAt = now;
    const limit = this.limits[`RATE_LIMIT_${as}_PER_MINUTE`];
    const since = (time: number) => this.#admitted.filter((one) => one.as === as && one.at > time);
    if (answer.status === 429 && Number(answer.headers['Retry-After']) <= 60) {
      agree(since(now - 60_000 - APART_MS).length >= limit, `${as} are not at their limit`);
      return false;
    }
    const isCounted = isUnknown(answer) ? isValid !== false : true;
    const sure = since(now - 60_000 + APART_MS).filter(({ isSure }) => isSure);
    if (!isUnknown(answer)) agree(sure.length < limit, `${as} are over their limit`);
    if (isCounted) this.#admitted.push({ as, at: now, isSure: !isUnknown(answer) });
    return !isUnknown(answer);
  }

  /** A call happens that the network has delayed or repeated, or whose process has paused. It may have counted a request, again or only now. */
  lateCall(): void {
    for (const as of ['UPLOADS', 'LISTS', 'REQUESTS']) this.#admitted.push({ as, at: this.now(), isSure: false });
  }

  answerNewKey(made: Credential, who: Credential, answer: Answer, isLate: boolean): void {
    const isAdmitted = isLate || this.admits('REQUESTS', who, answer);
    if (isUnknown(answer)) return;
    agree(answer.status === 201 || isLate || !isAdmitted, `${answer.status} is no answer to a new key`);
    if (answer.status === 201) this.#isKey(made, answer.body);
    else made.exists = 'no';
  }

  #isKey(made: Credential, { id, key }: { id: string; key?: string }): void {
    Object.assign(made, { id, ...(key && { header: { authorization: `Bearer ${key}` } }) });
    if (made.exists === 'unborn?') made.exists = 'yes';
  }

  answerKeys(who: Credential, answer: Answer, isQuiet: boolean): void {
    if (!this.admits('REQUESTS', who, answer)) return;
    const shown: { id: string; name: string }[] = answer.body.items;
    for (const key of this.keys) {
      const item = shown.find(({ name }) => name === key.name);
      agree(item ? key.exists !== 'no' : key.exists !== 'yes', `${key.name} is ${item ? '' : 'not '}listed`);
      if (item) this.#isKey(key, item);
      if (item && isQuiet) key.exists = 'yes';
      if (!item && (isQuiet || key.exists === 'gone?')) key.exists = 'no';
    }
    agree(
      shown.every(({ name }) => this.keys.some((key) => key.name === name)),
      'an unknown key is listed',
    );
  }

  /** The end of a key or of sessions. */
  answerRevocation(ended: readonly Credential[], who: Credential, answer: Answer, isLate: boolean): void {
    if (!isLate && !this.admits('REQUESTS', who, answer) && !isUnknown(answer)) return;
    for (const one of ended) {
      const { exists } = one;
      if (answer.status === 200) one.exists = 'no';
      else if (isUnknown(answer)) one.exists = exists === 'yes' ? 'gone?' : exists;
      else if (isLate) agreeRefusal(answer.status, 404);
      else agree(answer.status === 404 && exists !== 'yes', `${one.name} exists`);
      if (answer.status === 404 && exists === 'gone?') one.exists = 'no';
    }
  }

  endSessions(): void {
    for (const session of this.sessions) session.exists = 'no';
  }

  suspended(): void {
    this.isSuspended = true;
    this.endSessions();
  }

  /** The account is gone, and with it every key and session. */
  protected ended(): void {
    for (const credential of [...this.keys, ...this.sessions]) credential.exists = 'no';
    this.isSuspended = false;
    this.isGone = true;
  }
}
