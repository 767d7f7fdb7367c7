import type { Api } from './api.ts';
import { type Content, openSource, type StreamContent, type UploadSource } from './content.ts';
import { abortedError, FileHostingError } from './error.ts';
import { type Job, newJob, type UploadOptions } from './job.ts';
import { unlessAborted } from './retry.ts';
import { canStream } from './send.ts';
import { sendDirectly } from './send-directly.ts';
import { sendForm } from './send-form.ts';
import { checkSize, sendStream } from './send-stream.ts';
import type { FileRecord } from './types.ts';

/** Larger content goes directly to the storage. The gateway takes forms up to 4 MiB; 4 KiB are left for the rest of the form. */
export const FORM_FILE_MAX_BYTES = 4 * 1024 * 1024 - 4_096;

/**
 * Uploads content as one file. Small content and long streams are sent in a form; all other content is sent directly to the storage.
 * @throws FileHostingError
 */
export async function upload(api: Api, source: UploadSource, options: UploadOptions): Promise<FileRecord> {
  const job = newJob(api, options);
  const { signal, size } = job;
  if (signal?.aborted) throw abortedError(signal);
  const content = await openSource(source, options);
  if ('blob' in content) return sendBlob(job, content);
  try {
    const limit = canStream(api.fetch) ? FORM_FILE_MAX_BYTES : Number.POSITIVE_INFINITY;
    const { start, isOver } = await unlessAborted(readStart(content, limit), signal);
    if (!isOver) return await sendStream(job, content, start);
    const blob = new Blob(start as BlobPart[]);
    checkSize(size, blob.size);
    return await sendBlob(job, { ...content, blob });
  } finally {
    content.chunks.return?.().catch(() => {});
  }
}

function sendBlob(job: Job, content: Content): Promise<FileRecord> {
  return content.blob.size > FORM_FILE_MAX_BYTES ? sendDirectly(job, content) : sendForm(job, content);
}

/** Reads a stream until it ends or has more than `limit` bytes. */
async function readStart({ chunks }: StreamContent, limit: number): Promise<{ start: Uint8Array[]; isOver: boolean }> {
  const start: Uint8Array[] = [];
  for (let bytes = 0; bytes <= limit; ) {
    const { done, value } = await chunks.next().catch((cause: unknown) => {
      throw cause instanceof FileHostingError ? cause : new FileHostingError('unreadable', { cause });
    });
    if (done) return { start, isOver: true };
    // A copy, because some streams use their buffer again.
    start.push(value.slice());
    bytes += value.byteLength;
  }
  return { start, isOver: false };
}
