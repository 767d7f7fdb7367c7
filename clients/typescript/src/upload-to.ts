import { Api, type Connecting } from './api.ts';
import { openSource } from './content.ts';
import { FileHostingError, invalid, throwIfAborted } from './error.ts';
import { newJob, type UploadOptions } from './job.ts';
import { retry } from './retry.ts';
import { type OpenTicket, putBytes } from './send-directly.ts';

export interface UploadToOptions
  extends Partial<Connecting>,
    Pick<UploadOptions, 'onProgress' | 'signal' | 'retries' | 'onWait'> {}

/**
 * Sends the content of a ticket to the storage, without a key, and repeats failed attempts by itself. After that, `complete` makes it a file.
 * Aborting leaves the ticket, which `cancel` removes.
 * @throws FileHostingError `forbidden` when the ticket has expired, or is for content of another size; `invalid_request` when the ticket was
 *   used before, or cancelled.
 */
export async function uploadTo(
  ticket: OpenTicket,
  source: string | URL | Blob | ArrayBuffer | ArrayBufferView,
  { fetch, stallSeconds, ...options }: UploadToOptions = {},
): Promise<void> {
  const job = newJob(new Api('', undefined, { fetch, stallSeconds }), options);
  throwIfAborted(job.signal);
  const content = await openSource(source, {});
  if ('chunks' in content) throw invalid('A ticket takes no stream; give a path, Blob or bytes');
  let mayBeStored = false;
  await retry(async (last) => {
    // 409: another PUT of this ticket was under way.
    mayBeStored ||= last !== undefined && last.status !== 409;
    const { status } = await putBytes(job, ticket, content.blob);
    if (status !== 412 || mayBeStored) return;
    throw new FileHostingError('invalid_request', {
      status,
      what: 'The ticket has been used or cancelled',
      advice: 'Complete the upload, or create another ticket.',
    });
  }, job);
}
