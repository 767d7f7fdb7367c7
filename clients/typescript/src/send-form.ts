import { isRefusal } from './answer.ts';
import { PIECE_BYTES } from './chunks.ts';
import type { Content } from './content.ts';
import { FileHostingError } from './error.ts';
import { formAround } from './form.ts';
import { type Job, type UploadedFile, undo, uploadedIn } from './job.ts';
import { retry } from './retry.ts';

/**
 * Sends content in a form. The form may be sent again: by the idempotency key the service recognizes the same upload.
 * @throws FileHostingError
 */
export async function sendForm(job: Job, { blob, ...described }: Content): Promise<UploadedFile> {
  const { head, tail, headers } = formAround(described, job.key);
  // The bytes, because Bun leaves out a Blob of a file that is a part of another Blob.
  const bytes = await blob.arrayBuffer().catch((cause: unknown) => {
    throw new FileHostingError('unreadable', { cause });
  });
  const body = new Blob([head, bytes, tail]);
  const size = bytes.byteLength;
  let mayBeStored = false;
  const attempt = async (signal = job.signal) => {
    const report = job.begin(size);
    const before = mayBeStored;
    const onSent = (bytes: number) => {
      report(bytes - head.byteLength);
      // Before the first byte the caller can still abort the attempt.
      mayBeStored ||= bytes + PIECE_BYTES >= body.size && !(bytes === 0 && signal?.aborted);
    };
    const request = { ...job, rate: 'uploads', body, headers, signal, onSent } as const;
    const answer = await job.api.request('POST', '/files', request);
    if (isRefusal(answer)) mayBeStored = before;
    const record = await uploadedIn(answer, job);
    report(size);
    return record;
  };
  try {
    return await retry(() => attempt(), job);
  } catch (error) {
    // The aborted request may have made a file whose id was not read. Sending the same form again returns that file.
    if (job.signal?.aborted && mayBeStored) await undo(job, async (signal) => (await attempt(signal)).id);
    throw error;
  }
}
