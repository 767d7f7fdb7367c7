import { recordIn } from './answer.ts';
import type { Content } from './content.ts';
import { formAround } from './form.ts';
import { type Job, undo } from './job.ts';
import { retry } from './retry.ts';
import { PIECE_BYTES } from './send.ts';
import type { FileRecord } from './types.ts';

/** Sends content in a form, which may be repeated: the service knows it by its key. @throws FileHostingError */
export async function sendForm(job: Job, { blob, ...described }: Content): Promise<FileRecord> {
  const { head, tail, headers } = formAround(described, job.key);
  const body = new Blob([head, blob, tail]);
  let mayBeStored = false;
  const attempt = async (signal = job.signal) => {
    const report = job.begin(blob.size);
    const onSent = (bytes: number) => {
      mayBeStored ||= bytes + PIECE_BYTES >= body.size;
      report(bytes - head.byteLength);
    };
    const request = { ...job, rate: 'uploads', body, content: blob, headers, signal, onSent } as const;
    const record = recordIn(await job.api.request('POST', '/files', request));
    report(blob.size);
    return record;
  };
  try {
    return await retry(() => attempt(), job);
  } catch (error) {
    // An answer that came too late was not read. The same form again has the same answer, which says what to delete.
    if (job.signal?.aborted && mayBeStored) await undo(job, async (signal) => (await attempt(signal)).id);
    throw error;
  }
}
