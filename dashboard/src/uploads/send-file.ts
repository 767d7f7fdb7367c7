import type { FileRecord, UploadTicket } from '../../../shared/answers.ts';
import { INLINE_BODY_MAX_BYTES } from '../../../shared/limits.ts';
import { Failure, failureOf } from '../api/failure.ts';
import { API, request } from '../api/request.ts';
import type { Pace } from './pace.ts';
import { type BodyAnswer, sendBody } from './send-body.ts';

/** The most that a form adds to one file: its delimiters, and an escaped name of 255 bytes. */
const FORM_FRAMING_BYTES = 4_096;

/** A larger file is uploaded directly to the bucket, where the gateway's limits of size and time do not apply. */
const FORM_FILE_MAX_BYTES = INLINE_BODY_MAX_BYTES - FORM_FRAMING_BYTES;

export const isSentDirectly = (sizeBytes: number): boolean => sizeBytes > FORM_FILE_MAX_BYTES;

export interface Sending {
  readonly file: File;
  /** Every attempt to upload this file sends the same key, so that none makes a duplicate. */
  readonly idempotencyKey: string;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
  /** @param id  the id of the file's ticket, which must be cancelled if the upload is given up. */
  readonly onTicket: (id: string) => void;
}

/**
 * Makes one attempt to store a file.
 * @throws Failure, and the reason of `signal` when it is aborted.
 */
export function sendFile(sending: Sending): Promise<FileRecord> {
  return isSentDirectly(sending.file.size) ? sendDirectly(sending) : sendForm(sending);
}

async function sendForm({ file, idempotencyKey, pace, signal, onProgress }: Sending): Promise<FileRecord> {
  const body = new FormData();
  body.append('file', file);
  const answer = await sendBody({
    method: 'POST',
    url: `${API}/files`,
    headers: { 'Idempotency-Key': idempotencyKey },
    body,
    signal,
    onProgress: (sentBytes) => onProgress(Math.min(sentBytes, file.size)),
  });
  pace.learn((name) => answer.header(name));
  return recordOf(answer);
}

/** Gets a ticket, sends the bytes, and completes the upload. A retry resumes at the step where the last attempt failed. */
async function sendDirectly({
  file,
  idempotencyKey,
  pace,
  signal,
  onProgress,
  onTicket,
}: Sending): Promise<FileRecord> {
  const ticket = await sendBody({
    method: 'POST',
    url: `${API}/files`,
    headers: { 'Idempotency-Key': idempotencyKey, 'Content-Type': 'application/json' },
    body: new Blob([
      JSON.stringify({
        name: file.name,
        mime_type: file.type || 'application/octet-stream',
        size_bytes: file.size,
      }),
    ]),
    signal,
    onProgress: () => {},
  });
  pace.learn((name) => ticket.header(name));
  // An earlier attempt succeeded, but its answer was lost.
  if (ticket.status === 201) return recordOf(ticket);
  if (ticket.status !== 202) throw answerFailure(ticket);
  const { id, upload } = JSON.parse(ticket.text) as UploadTicket;
  onTicket(id);
  const stored = await sendBody({ ...upload, body: file, signal, onProgress });
  if (!isStored(stored)) throw new Failure('service_unavailable');
  return await request<FileRecord>('POST', `/files/${id}/complete`, { signal });
}

/** Cancels a ticket, which releases its reserved storage. If the call fails, the ticket expires by itself. */
export async function cancelTicket(id: string): Promise<void> {
  await request('DELETE', `/files/${id}`).catch(() => {});
}

/** The bucket accepts the bytes only once (`If-None-Match: *`): 412 means that an earlier attempt has stored them. */
function isStored({ status }: BodyAnswer): boolean {
  return (status >= 200 && status < 300) || status === 412;
}

function recordOf(answer: BodyAnswer): FileRecord {
  if (answer.status !== 201) throw answerFailure(answer);
  return JSON.parse(answer.text) as FileRecord;
}

function answerFailure(answer: BodyAnswer): Failure {
  let body: unknown = null;
  try {
    body = JSON.parse(answer.text);
  } catch {
    // This is not an answer of the service; `failureOf` handles it.
  }
  return failureOf(body, answer.header('Retry-After'));
}
