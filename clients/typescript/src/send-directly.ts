import { type Answer, errorOf, isRefusal, jsonOf, recordIn, storageErrorOf } from './answer.ts';
import type { RequestOptions } from './api.ts';
import type { Content } from './content.ts';
import { FileHostingError } from './error.ts';
import { type Job, type UploadedFile, undo, uploadedIn } from './job.ts';
import { retry } from './retry.ts';
import type { FileRecord, TicketRequest, UploadTicket } from './types.ts';

/** A ticket whose bytes are to be sent. */
export type OpenTicket = Omit<UploadTicket, 'file'> & Required<Pick<UploadTicket, 'upload' | 'expires_at'>>;

/**
 * Gets a ticket, sends the bytes to the storage, and completes the upload. Each step may be repeated, because the storage takes the
 * bytes of a ticket only once.
 * @throws FileHostingError
 */
export async function sendDirectly(job: Job, content: Content): Promise<UploadedFile> {
  let id: string | undefined;
  let mayHaveTicket = false;
  const { name, type: mime_type, blob } = content;
  const askOnce = async (signal = job.signal) => {
    const before = mayHaveTicket;
    const onSent = () => {
      mayHaveTicket = true;
    };
    const answer = await askForTicket(job, { name, mime_type, size_bytes: blob.size }, { ...job, signal, onSent });
    if (isRefusal(answer)) mayHaveTicket = before;
    return ticketIn(answer, job);
  };
  const ask = async () => {
    const given = await retry(() => askOnce(), job);
    id = given.id;
    return given;
  };
  try {
    const given = await ask();
    if ('url' in given) return given;
    const { api } = job;
    const finish = async () => recordIn(await api.request('POST', `/uploads/${given.id}/complete`, job));
    const file = (await putWithTicket(job, content, given, ask)) ?? (await retry(finish, job));
    return { ...file, isReplay: false, isDeleted: false };
  } catch (error) {
    // If the caller gave the key, the same call can continue this upload later, so the upload is not removed.
    const isOver = job.signal?.aborted || !job.isKeyKnown;
    if (isOver && mayHaveTicket)
      await undo(job, async (signal) => id ?? (await askOnce(signal)).id, { isTicket: true });
    throw isOver || !(error instanceof FileHostingError) ? error : Object.assign(error, { uploadId: id });
  }
}

export function askForTicket(
  { api, key }: Pick<Job, 'api' | 'key'>,
  json: TicketRequest,
  options: RequestOptions,
): Promise<Answer> {
  return api.request('POST', '/uploads', { ...options, rate: 'uploads', json, headers: { 'Idempotency-Key': key } });
}

/**
 * Sends the bytes of a ticket once. @returns the answer of the storage: a 2xx, or 412 when the ticket has taken its bytes before, or was
 * cancelled.
 */
export async function putBytes(
  job: Job,
  { upload: { method, url, headers } }: OpenTicket,
  blob: Blob,
): Promise<Answer> {
  const report = job.begin(blob.size);
  const answer = await job.api.send({ method, url, headers, body: blob, signal: job.signal, onSent: report });
  if (answer.status >= 300 && answer.status !== 412) throw storageErrorOf(answer);
  report(blob.size);
  return answer;
}

/** @returns the file if the upload became complete meanwhile; otherwise the bytes are stored. */
async function putWithTicket(
  job: Job,
  { blob }: Content,
  ticket: OpenTicket,
  ask: () => Promise<OpenTicket | UploadedFile>,
): Promise<FileRecord | undefined> {
  let given: OpenTicket | UploadedFile = ticket;
  return retry(async () => {
    if ('url' in given) return given;
    try {
      await putBytes(job, given, blob);
    } catch (error) {
      if (!(error instanceof FileHostingError && error.code === 'forbidden')) throw error;
      // The URL has expired. The same request with the same key returns the ticket with a new URL.
      given = await ask();
      if ('url' in given) return given;
      await putBytes(job, given, blob);
    }
    return undefined;
  }, job);
}

/** The ticket in an answer, or the file if an earlier upload with the same key is complete. */
export async function ticketIn(answer: Answer, job: Job): Promise<OpenTicket | UploadedFile> {
  const body = jsonOf(answer) as unknown as UploadTicket;
  if (body.file) return uploadedIn(answer, job, body.file);
  if (typeof body.id === 'string' && typeof body.upload?.url === 'string') return body as OpenTicket;
  throw errorOf(answer, undefined);
}
