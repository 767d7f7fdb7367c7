import { type Answer, errorOf, isRefusal, jsonOf, recordIn, storageErrorOf } from './answer.ts';
import type { Content } from './content.ts';
import { FileHostingError, withDetails } from './error.ts';
import { type Job, undo } from './job.ts';
import { retry } from './retry.ts';
import type { FileRecord, TicketRequest, UploadTicket } from './types.ts';

/** A ticket whose bytes are to be sent. */
type OpenTicket = UploadTicket & Required<Pick<UploadTicket, 'upload'>>;

/**
 * Gets a ticket, sends the bytes to the storage, and completes the upload. Each step may be repeated, because the storage takes the
 * bytes of a ticket only once.
 * @throws FileHostingError
 */
export async function sendDirectly(job: Job, content: Content): Promise<FileRecord> {
  const { api } = job;
  let id: string | undefined;
  let mayHaveTicket = false;
  const askOnce = async (signal = job.signal) => {
    const before = mayHaveTicket;
    const onSent = () => {
      mayHaveTicket = true;
    };
    const { name, type: mime_type, blob } = content;
    const json: TicketRequest = { name, mime_type, size_bytes: blob.size };
    const headers = { 'Idempotency-Key': job.key };
    const answer = await api.request('POST', '/uploads', { ...job, rate: 'uploads', json, headers, signal, onSent });
    if (isRefusal(answer)) mayHaveTicket = before;
    return ticketIn(answer);
  };
  const ask = async () => {
    const given = await retry(() => askOnce(), job);
    id = given.id;
    return given;
  };
  try {
    const given = await putWithTicket(job, content, ask);
    if ('url' in given) return given;
    return await retry(async () => recordIn(await api.request('POST', `/uploads/${given.id}/complete`, job)), job);
  } catch (error) {
    // If the caller gave the key, the same call can continue this upload later, so the upload is not removed.
    const isOver = job.signal?.aborted || !job.isKeyKnown;
    if (isOver && mayHaveTicket)
      await undo(job, async (signal) => id ?? (await askOnce(signal)).id, { isTicket: true });
    throw isOver || !(error instanceof FileHostingError) ? error : withDetails(error, { uploadId: id });
  }
}

/** @returns the ticket whose bytes are stored, or the file if an earlier attempt with the same key has made it. */
async function putWithTicket(
  job: Job,
  { blob }: Content,
  ask: () => Promise<OpenTicket | FileRecord>,
): Promise<OpenTicket | FileRecord> {
  let given = await ask();
  const put = async () => {
    if ('url' in given) return;
    const { method, url, headers } = given.upload;
    const report = job.begin(blob.size);
    const answer = await job.api.send({ method, url, headers, body: blob, signal: job.signal, onSent: report });
    // 412: an earlier attempt has stored the bytes.
    if (answer.status >= 300 && answer.status !== 412) throw storageErrorOf(answer);
    report(blob.size);
  };
  await retry(async () => {
    try {
      await put();
    } catch (error) {
      if (!(error instanceof FileHostingError && error.code === 'forbidden')) throw error;
      // The URL has expired. The same request with the same key returns the ticket with a new URL.
      given = await ask();
      await put();
    }
  }, job);
  return given;
}

function ticketIn(answer: Answer): OpenTicket | FileRecord {
  const body = jsonOf(answer) as unknown as UploadTicket;
  if (body.file) return body.file;
  if (typeof body.id === 'string' && typeof body.upload?.url === 'string') return body as OpenTicket;
  throw errorOf(answer, undefined);
}
