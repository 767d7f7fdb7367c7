import {
  FileHostingError,
  type FileRecord,
  type Profile,
  type Progress,
  type Wait,
} from '../../../clients/typescript/src/index.ts';
import { INLINE_BODY_MAX_BYTES } from '../../../shared/contract/limits.ts';
import { hosting } from '../api/client.ts';
import { failureOf, knownFailure } from '../api/failure.ts';
import type { FailureCode } from '../api/failure-code.ts';
import { nextEvent } from './next-event.ts';
import { Speed } from './speed.ts';

/**
 * The state of an upload. `held`: the upload waits after a temporary failure, for the rate limit, or for a new session; then it continues
 * by itself. `paused`: the upload waits for the user.
 */
export type UploadState = 'waiting' | 'sending' | 'held' | 'paused' | 'done' | 'failed';

export interface Upload {
  readonly id: string;
  /** The number of its batch. An upload that is added while others run joins their batch, and is counted with them. */
  readonly batch: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly state: UploadState;
  /** The failure of the last attempt, when the upload has failed or is held. */
  readonly failure?: FailureCode;
  /** The error of the last attempt, when the upload has failed. */
  readonly error?: unknown;
  /** The stored file, when the upload is done. */
  readonly record?: FileRecord;
}

type Account = Pick<Profile, 'id' | 'email'>;

interface Job {
  readonly file: File;
  /** Every attempt to upload this file sends the same key, so that none makes a duplicate. */
  idempotencyKey: string;
  readonly controller: AbortController;
  /** Resolves when the upload has ended, or what it had sent before a pause is removed; absent until it begins. */
  running?: Promise<void>;
  /** The id of the unfinished upload that a failure has left in the service. It is deleted when the user gives the upload up. */
  uploadId?: string | undefined;
}

interface QueueEvents {
  /** Called after each file that is stored. */
  onStored(): void;
  /** Called for each upload that has failed for good, and when the session has ended. */
  onError(error: unknown): void;
}

const AT_ONCE = 4;

/**
 * A file that takes longer than this is never sent beside another such file. On a slow connection both would be slower, and could fall
 * under the service's minimum rate. If both were cut off, more bytes would have to be sent again.
 */
const LONG_SECONDS = 30;

/** Attempts to upload a file before the user has to retry; attempts rejected by the rate limit do not count. */
const ATTEMPTS = 4;

/** Listeners are notified at most this often. */
const NOTICE_MS = 200;

/**
 * The upload queue, which holds the uploads in their order and with their state. It outlives pages, so uploads continue while
 * the user browses; it ends with the tab. It is our own: of Uppy's core it could use only the list, and new files would wait there
 * until every failed one was tried again.
 */
export class UploadQueue {
  #uploads: readonly Upload[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #speed = new Speed();
  readonly #listeners = new Set<() => void>();
  readonly #events: QueueEvents;
  /** The account of the uploads; undefined until it is known who is logged in. */
  #account: Account | undefined;
  /** Fires `session` when there is a session again. */
  readonly #sessions = new EventTarget();
  #running = 0;
  #batch = 0;
  #notice: ReturnType<typeof setTimeout> | undefined;

  constructor(events: QueueEvents) {
    this.#events = events;
  }

  /** What the rate limit allows, and when. */
  get pace(): typeof hosting.uploadPace {
    return hosting.uploadPace;
  }

  /** The speed of all uploads in bytes per second; undefined until it can be measured. */
  get bytesPerSecond(): number | undefined {
    return this.#speed.perSecond;
  }

  /** Subscribes a listener, for `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The uploads; the same array until something changes. */
  readonly snapshot = (): readonly Upload[] => this.#uploads;

  get isBusy(): boolean {
    return this.#uploads.some(({ state }) => isUnfinished(state));
  }

  /** The account of the unfinished uploads that wait, when it is not the given one. */
  waitingOf(accountId: string): Account | undefined {
    return this.isBusy && this.#account?.id !== accountId ? this.#account : undefined;
  }

  /** Sets who is logged in. Uploads that waited for a session continue; those of another account are cancelled. */
  setAccount(account: Account): void {
    if (this.#account !== undefined && this.#account.id !== account.id) void this.#cancelWhere(() => true);
    this.#account = account;
    this.#sessions.dispatchEvent(new Event('session'));
  }

  /** Adds files to upload. @param maxBytes  a larger file fails at once, without a request. */
  add(files: readonly File[], maxBytes: number): void {
    const batch = this.#openBatch();
    const uploads = files.toSorted(byName).map((file): Upload => {
      const id = crypto.randomUUID();
      const upload = { id, batch, name: file.name, sizeBytes: file.size, sentBytes: 0 };
      if (file.size > maxBytes) return { ...upload, state: 'failed', failure: 'file_too_large' };
      this.#jobs.set(id, newJob(file));
      return { ...upload, state: 'waiting' };
    });
    this.#set([...this.#uploads, ...uploads]);
    this.#startNext();
  }

  /**
   * Pauses an upload until `resume`. What it has sent is given up, because an upload is one request, which cannot be continued. So the
   * upload begins again later, under another Idempotency-Key.
   */
  pause(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    this.#jobs.set(id, { ...newJob(job.file), running: giveUp(job) });
    this.#change(id, { state: 'paused', sentBytes: 0 });
  }

  pauseAll(): void {
    for (const { id, state } of this.#uploads) if (isUnfinished(state) && state !== 'paused') this.pause(id);
  }

  resume(id: string): void {
    this.#change(id, { state: 'waiting' });
    this.#startNext();
  }

  resumeAll(): void {
    for (const { id, state } of this.#uploads) if (state === 'paused') this.resume(id);
  }

  /** Cancels an upload and removes it. */
  cancel(id: string): void {
    void this.#cancelWhere((upload) => upload.id === id);
  }

  /** Cancels all unfinished uploads. Resolves when the service has deleted what they had left, or the attempt to delete it has failed. */
  cancelAll(): Promise<void> {
    return this.#cancelWhere(({ state }) => isUnfinished(state));
  }

  /** Retries a failed upload, with the same Idempotency-Key, unless that key cannot be used again (see `#run`). */
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

  /** Removes all uploads that are done or failed. */
  clear(): void {
    void this.#cancelWhere(({ state }) => !isUnfinished(state));
  }

  async #cancelWhere(matches: (upload: Upload) => boolean): Promise<void> {
    const given: Promise<void>[] = [];
    for (const { id } of this.#uploads.filter(matches)) {
      const job = this.#jobs.get(id);
      if (job) given.push(giveUp(job));
      this.#jobs.delete(id);
    }
    this.#set(this.#uploads.filter((upload) => !matches(upload)));
    await Promise.all(given);
  }

  #openBatch(): number {
    if (!this.isBusy) this.#batch++;
    return this.#batch;
  }

  /** Starts the uploads that wait, in their order. When the next upload is long and must wait, shorter uploads start before it. */
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
      job.running = this.#run(id, job).finally(() => {
        this.#running--;
        this.#startNext();
      });
    }
  }

  /** True when the rest of a large file takes long at the measured speed, or when the speed is not known. */
  #isLong({ sizeBytes, sentBytes }: Upload): boolean {
    const left = sizeBytes - sentBytes;
    return left > INLINE_BODY_MAX_BYTES && !(left / (this.#speed.perSecond ?? 0) <= LONG_SECONDS);
  }

  async #run(id: string, job: Job): Promise<void> {
    await job.running;
    try {
      const record = await this.#untilStored(id, job);
      this.#jobs.delete(id);
      this.#change(id, { state: 'done', sentBytes: job.file.size, record });
      this.#events.onStored();
    } catch (error) {
      if (job.controller.signal.aborted) return;
      const failure = failureOf(error);
      // With its old Idempotency-Key the upload would be rejected for a day.
      if (failure === 'idempotency_conflict' || failure === 'not_found') job.idempotencyKey = crypto.randomUUID();
      this.#change(id, { state: 'failed', failure, error });
      this.#events.onError(error);
    }
  }

  /** Uploads until the file is stored. @throws FileHostingError, and the reason when the job is aborted. */
  async #untilStored(id: string, job: Job): Promise<FileRecord> {
    const { file, idempotencyKey, controller } = job;
    const { signal } = controller;
    let [latest, sent] = [0, 0];
    const onProgress = ({ attempt, sentBytes }: Progress) => {
      // To remove what an aborted upload may have stored, the client may send it again.
      if (signal.aborted) return;
      if (attempt === latest) this.#speed.add(sentBytes - sent);
      [latest, sent] = [attempt, sentBytes];
      this.#change(id, { state: 'sending', sentBytes });
    };
    const hold = (failure: FailureCode) => this.#change(id, { state: 'held', failure, sentBytes: 0 });
    const onWait = ({ code }: Wait) => hold(knownFailure(code));
    for (;;) {
      try {
        job.uploadId = undefined;
        return await hosting.upload(file, { idempotencyKey, signal, retries: ATTEMPTS - 1, onProgress, onWait });
      } catch (error) {
        if (!(error instanceof FileHostingError)) throw error;
        job.uploadId = error.uploadId;
        const isOffline = error.code === 'network_error' && !navigator.onLine;
        if (!isOffline && error.code !== 'unauthorized') throw error;
        hold(failureOf(error));
        if (!isOffline) this.#events.onError(error);
        await (isOffline ? nextEvent(window, 'online', signal) : nextEvent(this.#sessions, 'session', signal));
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
      // The newly measured speed may allow another upload to start.
      this.#startNext();
    }, NOTICE_MS);
  }
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Sorts files as a file manager does. */
function byName(one: File, other: File): number {
  return collator.compare(one.webkitRelativePath || one.name, other.webkitRelativePath || other.name);
}

function isUnderWay({ state }: Upload): boolean {
  return state === 'sending' || state === 'held';
}

export function isUnfinished(state: UploadState): boolean {
  return state !== 'done' && state !== 'failed';
}

function newJob(file: File): Job {
  return { file, idempotencyKey: crypto.randomUUID(), controller: new AbortController() };
}

/** Ends an upload, and deletes what it has left. If the deletion fails, its reserved storage becomes free when its ticket ends. */
async function giveUp(job: Job): Promise<void> {
  job.controller.abort();
  await job.running;
  if (job.uploadId !== undefined) await hosting.cancel(job.uploadId).catch(() => {});
}
