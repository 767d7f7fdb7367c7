import type { FileRecord, UploadTicket } from '../../../shared/answers.ts';
import { INLINE_BODY_MAX_BYTES } from '../../../shared/limits.ts';
import { Failure, failureOf } from '../api/failure.ts';
import { API, request } from '../api/request.ts';
import type { Pace } from './pace.ts';
import { type BodyAnswer, sendBody } from './send-body.ts';

/** What a form around one file takes at most: its delimiters, and a name of 255 bytes, escaped. */
const FORM_FRAMING_BYTES = 4_096;

/** A longer file is sent to the bucket directly, where neither the gateway's limits nor its time apply. */
const FORM_FILE_MAX_BYTES = INLINE_BODY_MAX_BYTES - FORM_FRAMING_BYTES;

export const isSentDirectly = (sizeBytes: number): boolean => sizeBytes > FORM_FILE_MAX_BYTES;

export interface Sending {
  readonly file: File;
  /** The same for every attempt at this file, so that none makes a duplicate. */
  readonly idempotencyKey: string;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
  /** @param id  of the ticket that the file now has: whoever gives the file up gives it back. */
  readonly onTicket: (id: string) => void;
}

/**
 * One attempt to store a file.
 * @throws Failure, and what `signal` is aborted with.
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

/** A ticket, the bytes, and the word that they are there. An attempt that broke off anywhere is taken up where it was. */
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
  // An earlier attempt succeeded, and its answer was lost on the way.
  if (ticket.status === 201) return recordOf(ticket);
  if (ticket.status !== 202) throw answerFailure(ticket);
  const { id, upload } = JSON.parse(ticket.text) as UploadTicket;
  onTicket(id);
  const stored = await sendBody({ ...upload, body: file, signal, onProgress });
  if (!isStored(stored)) throw new Failure('service_unavailable');
  return await request<FileRecord>('POST', `/files/${id}/complete`, { signal });
}

/** Gives back the room that a ticket holds. One that cannot be reached, or is not known yet, ends when its upload could. */
export async function cancelTicket(id: string): Promise<void> {
  await request('DELETE', `/files/${id}`).catch(() => {});
}

/** The bucket takes the bytes once (`If-None-Match: *`): 412 says that an earlier attempt brought them. */
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
    // Not an answer of ours: `failureOf` says what that means.
  }
  return failureOf(body, answer.header('Retry-After'));
}
