import type { Api } from './api.ts';
import { canSendStreams } from './body-stream.ts';
import { type Content, checkSize, openSource, readStart, type UploadSource } from './content.ts';
import { throwIfAborted } from './error.ts';
import { type Job, newJob, type UploadedFile, type UploadOptions } from './job.ts';
import { unlessAborted } from './retry.ts';
import { sendDirectly } from './send-directly.ts';
import { sendForm } from './send-form.ts';
import { sendStream } from './send-stream.ts';

/** Larger content goes directly to the storage. The gateway takes forms up to 4 MiB; 4 KiB are left for the rest of the form. */
export const FORM_FILE_MAX_BYTES = 4 * 1024 * 1024 - 4_096;

/**
 * Uploads content as one file. Small content and long streams are sent in a form; all other content is sent directly to the storage.
 * @throws FileHostingError
 */
export async function upload(api: Api, source: UploadSource, options: UploadOptions): Promise<UploadedFile> {
  const job = newJob(api, options);
  const { signal, size } = job;
  throwIfAborted(signal);
  const content = await openSource(source, options);
  if ('blob' in content) return sendBlob(job, content);
  try {
    const limit = canSendStreams(api.using.fetch) ? FORM_FILE_MAX_BYTES : Number.POSITIVE_INFINITY;
    const { start, isOver } = await unlessAborted(readStart(content, limit), signal);
    if (!isOver) return await sendStream(job, content, start);
    const blob = new Blob(start as BlobPart[]);
    checkSize(size, blob.size);
    return await sendBlob(job, { ...content, blob });
  } finally {
    content.chunks.return?.().catch(() => {});
  }
}

function sendBlob(job: Job, content: Content): Promise<UploadedFile> {
  return content.blob.size > FORM_FILE_MAX_BYTES ? sendDirectly(job, content) : sendForm(job, content);
}
