import { type Answer, jsonOf, recordIn } from './answer.ts';
import type { Api } from './api.ts';
import type { Description } from './content.ts';
import { invalid } from './error.ts';
import { randomText } from './form.ts';
import type { RetryOptions } from './retry.ts';
import type { FileRecord } from './types.ts';

/** The progress of one attempt. Within an attempt `sentBytes` never falls; the next attempt begins at 0 again. */
export interface Progress {
  /** Bytes of the content that the network has taken. */
  readonly sentBytes: number;
  /** Undefined for a stream whose `size` was not given. */
  readonly totalBytes: number | undefined;
  /** The number of the attempt; the first is 1. */
  readonly attempt: number;
}

export interface UploadOptions extends Description, RetryOptions {
  /** The length of a stream in bytes, if it is known. A stream of another length is not stored. */
  readonly size?: number | undefined;
  /** Uploads of the same content with the same key (1–255 ASCII characters) within 24 hours make one file. */
  readonly idempotencyKey?: string | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** @param isLast  true when the bytes are all that the attempt sends. */
type Report = (sentBytes: number, isLast?: boolean) => void;

/** The time between two reports of progress. The first and the last report of an attempt come at once. */
const REPORT_EVERY_MS = 100;

/** One upload on its way. */
export interface Job extends RetryOptions {
  readonly api: Api;
  readonly size: number | undefined;
  /** All attempts send the same key, so that they make one file. */
  readonly key: string;
  /**
   * True when the caller gave the key. Then the caller can call again with the same key, so a failed upload must not be removed.
   */
  readonly isKeyKnown: boolean;
  /** Begins an attempt. @returns a function that reports the progress of the attempt, except the reports that come too fast. */
  readonly begin: (totalBytes: number | undefined) => Report;
}

/** @throws FileHostingError `invalid_argument` for a key that cannot be sent. */
export function newJob(api: Api, { idempotencyKey, onProgress, ...options }: UploadOptions): Job {
  if (idempotencyKey !== undefined && !/^[ -~]{1,255}$/.test(idempotencyKey)) {
    throw invalid('`idempotencyKey` must be 1 to 255 ASCII characters');
  }
  const { size, signal, retries, onWait } = options;
  let attempt = 0;
  const begin = (totalBytes: number | undefined) => {
    attempt++;
    let latest = -1;
    let next = Number.NEGATIVE_INFINITY;
    return (bytes: number, isLast = false) => {
      const sentBytes = Math.min(Math.max(bytes, 0), totalBytes ?? bytes);
      const now = performance.now();
      if (sentBytes <= latest || (now < next && sentBytes !== totalBytes && !isLast)) return;
      latest = sentBytes;
      next = now + REPORT_EVERY_MS;
      onProgress?.({ sentBytes, totalBytes, attempt });
    };
  };
  const key = idempotencyKey ?? randomText();
  return { api, size, key, isKeyKnown: idempotencyKey !== undefined, begin, signal, retries, onWait };
}

/** The longest time for each of the steps that remove a given-up upload: finding its id, cancelling it, and deleting its file. */
const UNDO_MS = 10_000;

/**
 * Deletes what an upload may have left in the service. If the deletion fails, a ticket ends by itself, but a file stays.
 * @param findId  finds the id of the file or ticket, until the signal is aborted.
 * @param isTicket  true when the id may still be that of a ticket.
 */
export async function undo(
  { api }: Job,
  findId: (signal: AbortSignal) => Promise<string>,
  { isTicket = false } = {},
): Promise<void> {
  const removal = () => ({ signal: AbortSignal.timeout(UNDO_MS), doneStatus: 404 });
  // The caller gets the error that made the upload give up, not one of these.
  const id = await findId(AbortSignal.timeout(UNDO_MS)).catch(() => undefined);
  if (id === undefined) return;
  if (isTicket) await api.call('DELETE', `/uploads/${id}`, removal()).catch(() => {});
  await api.call('DELETE', `/files/${id}`, removal()).catch(() => {});
}

/** The file of an upload. */
export interface UploadedFile extends FileRecord {
  /** True when an earlier call with the same `idempotencyKey` has made the file, or an earlier attempt of this call. */
  readonly isReplay: boolean;
  /** True when the file of the earlier call has been deleted since, so that its link leads nowhere. */
  readonly isDeleted: boolean;
}

/**
 * The file of an upload in an answer. Nobody else has a key of the client's own, so its answers are no replays.
 * @throws FileHostingError when the answer is an error, or has no record.
 */
export async function uploadedIn(
  answer: Answer,
  { api, isKeyKnown, signal, retries, onWait }: Job,
  record = recordIn(answer),
): Promise<UploadedFile> {
  const isReplay = isKeyKnown && answer.header('Idempotency-Replayed') === 'true';
  const now = isReplay && (await api.request('GET', `/files/${record.id}`, { signal, retries, onWait }));
  const isDeleted = now && now.status === 404;
  if (now && !isDeleted) jsonOf(now);
  return { ...record, isReplay, isDeleted };
}
