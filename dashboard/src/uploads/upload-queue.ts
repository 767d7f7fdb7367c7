import type { FileRecord } from '../../../shared/answers.ts';
import { Failure, type FailureCode } from '../api/failure.ts';
import { nextEvent, pause } from '../api/pause.ts';
import { Pace } from './pace.ts';
import { cancelTicket, isSentDirectly, sendFile } from './send-file.ts';
import { Speed } from './speed.ts';

/**
 * `held`: an attempt failed for a passing reason, the rate limit is used up, or the session has ended; the next comes by
 * itself.
 */
export type UploadState = 'waiting' | 'sending' | 'held' | 'done' | 'failed';

export interface Upload {
  readonly id: string;
  /** The same for all that were added while others were under way: what is counted together. */
  readonly batch: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly state: UploadState;
  /** Of one that failed or is held: the last attempt's. */
  readonly failure?: FailureCode;
  /** Of one that is done. */
  readonly record?: FileRecord;
}

interface Job {
  readonly file: File;
  idempotencyKey: string;
  readonly controller: AbortController;
  /** Of a direct upload that has begun. */
  ticketId?: string;
}

interface QueueEvents {
  /** After each file that is stored. */
  onStored(): void;
  /** For each that failed for good, and when one finds that the session has ended. */
  onError(error: unknown): void;
}

const AT_ONCE = 4;

/**
 * A file that takes longer than this is sent beside no other such file. On a slow line that would bring none of them there
 * sooner: it would only divide the line, until none is as fast as the service expects, and each has the more to lose.
 */
const LONG_SECONDS = 30;

/** Attempts at one file before a person is asked; those that the rate limit refused are not counted. */
const ATTEMPTS = 4;

/** Views are told of changes this often at most. */
const NOTICE_MS = 200;

/**
 * The files that were given to upload, in their order, and what became of them. It outlives the pages, so uploads go on
 * while one browses; it lives in the tab, so they end with it.
 */
export class UploadQueue {
  #uploads: readonly Upload[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #pace = new Pace();
  readonly #speed = new Speed();
  readonly #listeners = new Set<() => void>();
  readonly #events: QueueEvents;
  /** Whose files they are; undefined until somebody is known to be logged in. */
  #accountId: string | undefined;
  /** Told when there is a session again. */
  readonly #sessions = new EventTarget();
  #running = 0;
  #batch = 0;
  #notice: ReturnType<typeof setTimeout> | undefined;

  constructor(events: QueueEvents) {
    this.#events = events;
  }

  /** What the rate limit lets through, and when. */
  get pace(): Pick<Pace, 'notBefore' | 'secondsFor'> {
    return this.#pace;
  }

  /** Bytes a second that are sent; undefined until there is something to tell it by. */
  get bytesPerSecond(): number | undefined {
    return this.#speed.perSecond;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same array until something changed. */
  readonly snapshot = (): readonly Upload[] => this.#uploads;

  get isBusy(): boolean {
    return this.#uploads.some(({ state }) => isUnfinished(state));
  }

  /** Says who is logged in: what waited for a session goes on, unless somebody else had given it. */
  setAccount(accountId: string): void {
    if (this.#accountId !== undefined && this.#accountId !== accountId) void this.#cancelWhere(() => true);
    this.#accountId = accountId;
    this.#sessions.dispatchEvent(new Event('session'));
  }

  /** @param maxBytes  a longer file fails at once: the service would refuse it after it was sent. */
  add(files: readonly File[], maxBytes: number): void {
    const batch = this.#openBatch();
    const uploads = files.toSorted(byName).map((file): Upload => {
      const id = crypto.randomUUID();
      const upload = { id, batch, name: file.name, sizeBytes: file.size, sentBytes: 0 };
      if (file.size > maxBytes) return { ...upload, state: 'failed', failure: 'file_too_large' };
      this.#jobs.set(id, { file, idempotencyKey: crypto.randomUUID(), controller: new AbortController() });
      return { ...upload, state: 'waiting' };
    });
    this.#set([...this.#uploads, ...uploads]);
    this.#startNext();
  }

  /** Takes one out; what was sent of it is not kept. A multipart upload that has just arrived whole may still be stored. */
  cancel(id: string): void {
    void this.#cancelWhere((upload) => upload.id === id);
  }

  /** Resolves once the room that they held was given back, or could not be. */
  cancelAll(): Promise<void> {
    return this.#cancelWhere(({ state }) => isUnfinished(state));
  }

  /** Tries one that failed again, as the same attempt to the service. */
  retry(id: string): void {
    if (!this.#jobs.has(id)) return;
    this.#change(id, { state: 'waiting', sentBytes: 0, batch: this.#openBatch() });
    this.#startNext();
  }

  canRetry(id: string): boolean {
    return this.#jobs.has(id);
  }

  retryAll(): void {
    for (const { id, state } of this.#uploads) if (state === 'failed') this.retry(id);
  }

  /** Forgets all that are done or failed. */
  clear(): void {
    void this.#cancelWhere(({ state }) => !isUnfinished(state));
  }

  async #cancelWhere(isMeant: (upload: Upload) => boolean): Promise<void> {
    const tickets: Promise<void>[] = [];
    for (const { id } of this.#uploads.filter(isMeant)) {
      const job = this.#jobs.get(id);
      job?.controller.abort();
      if (job?.ticketId !== undefined) tickets.push(cancelTicket(job.ticketId));
      this.#jobs.delete(id);
    }
    this.#set(this.#uploads.filter((upload) => !isMeant(upload)));
    await Promise.all(tickets);
  }

  #openBatch(): number {
    if (!this.isBusy) this.#batch++;
    return this.#batch;
  }

  /** Starts those that wait, in their order; where the next one is long and has to wait, shorter ones go first. */
  #startNext(): void {
    let hasLong = this.#uploads.some((upload) => isUnderWay(upload) && this.#isLong(upload));
    for (const upload of this.#uploads) {
      if (this.#running >= AT_ONCE) return;
      const { id, state } = upload;
      const job = state === 'waiting' ? this.#jobs.get(id) : undefined;
      if (!job) continue;
      const isLong = this.#isLong(upload);
      if (isLong && hasLong) continue;
      hasLong ||= isLong;
      if (this.#running === 0) this.#speed.begin();
      this.#running++;
      this.#change(id, { state: 'sending' });
      void this.#run(id, job).finally(() => {
        this.#running--;
        this.#startNext();
      });
    }
  }

  /** True for what is left of a large file, unless it is known that the line takes it in a short time. */
  #isLong({ sizeBytes, sentBytes }: Upload): boolean {
    const left = sizeBytes - sentBytes;
    return isSentDirectly(left) && !(left / (this.#speed.perSecond ?? 0) <= LONG_SECONDS);
  }

  async #run(id: string, job: Job): Promise<void> {
    try {
      const record = await this.#untilStored(id, job);
      this.#jobs.delete(id);
      this.#change(id, { state: 'done', sentBytes: job.file.size, record });
      this.#events.onStored();
    } catch (error) {
      if (job.controller.signal.aborted) return;
      const failure = error instanceof Failure ? error.code : 'internal_error';
      // Under its old key a conflicting file would be refused for a day.
      if (failure === 'idempotency_conflict' || failure === 'not_found') job.idempotencyKey = crypto.randomUUID();
      this.#change(id, { state: 'failed', failure });
      this.#events.onError(error);
    }
  }

  /** @throws Failure of the last attempt, and what the job is aborted with. */
  async #untilStored(id: string, job: Job): Promise<FileRecord> {
    const { file, idempotencyKey } = job;
    const { signal } = job.controller;
    const onTicket = (ticketId: string) => {
      job.ticketId = ticketId;
    };
    for (let attempts = 1; ; ) {
      let sent = 0;
      const onProgress = (sentBytes: number) => {
        this.#speed.add(sentBytes - sent);
        sent = sentBytes;
        this.#change(id, { state: 'sending', sentBytes });
      };
      try {
        if (this.#pace.isHolding) this.#change(id, { state: 'held', failure: 'rate_limit_exceeded' });
        await this.#pace.turn(signal);
        this.#change(id, { state: 'sending' });
        return await sendFile({ file, idempotencyKey, pace: this.#pace, signal, onProgress, onTicket });
      } catch (error) {
        if (!(error instanceof Failure) || !(error.isPassing || error.code === 'unauthorized')) throw error;
        const { code, retryAfterSeconds } = error;
        // A browser says of a file that it cannot read what it says of a broken connection.
        if (code === 'offline' && !(await isReadable(file))) throw new Failure('unreadable');
        if (isCounted(code) && attempts++ >= ATTEMPTS) throw error;
        this.#change(id, { state: 'held', failure: code, sentBytes: 0 });
        if (code === 'rate_limit_exceeded') this.#pace.hold(retryAfterSeconds ?? 1);
        else if (code === 'unauthorized') {
          this.#events.onError(error);
          await nextEvent(this.#sessions, 'session', signal);
        } else if (isCounted(code)) await pause(retryAfterSeconds ?? 2 ** (attempts - 2), signal);
        else await nextEvent(window, 'online', signal);
      }
    }
  }

  #change(id: string, change: Partial<Upload>): void {
    this.#set(this.#uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  }

  #set(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    this.#notice ??= setTimeout(() => {
      this.#notice = undefined;
      for (const listener of this.#listeners) listener();
      // What is known of the line since may let another one start.
      this.#startNext();
    }, NOTICE_MS);
  }
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** As a file manager sorts them, whatever order the browser found them in. */
function byName(one: File, other: File): number {
  return collator.compare(one.webkitRelativePath || one.name, other.webkitRelativePath || other.name);
}

function isUnderWay({ state }: Upload): boolean {
  return state === 'sending' || state === 'held';
}

export function isUnfinished(state: UploadState): boolean {
  return state === 'waiting' || state === 'sending' || state === 'held';
}

/** Neither the rate limit, an ended session nor a browser that has no network says anything of the attempt. */
function isCounted(code: FailureCode): boolean {
  if (code === 'rate_limit_exceeded' || code === 'unauthorized') return false;
  return code !== 'offline' || navigator.onLine;
}

/** False when a file was changed, moved or deleted since it was chosen. */
async function isReadable(file: File): Promise<boolean> {
  return file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}
