import { randomFillSync } from 'node:crypto';
import { readUploadForm } from '../shared/upload-form/read-upload-form.ts';
import { type Measurement, median } from './measurement.ts';

const CHUNK_BYTES = 64 * 1024;
const FILE_BYTES = 100 * 1024 * 1024;
const RUNS = 7;
const BOUNDARY = '----WebKitFormBoundaryxXPgw4LSZEDYGFNx';

/**
 * Measures how long the parser takes for the form of a 100 MiB file in chunks of 64 KiB, in memory. It gives the median of seven runs. The
 * bytes are random: the search for the boundary takes as long in them as in a real file.
 */
export async function benchUploadForm(): Promise<Measurement[]> {
  const chunks = formChunks();
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    await readUploadForm(sourceOf(chunks), `multipart/form-data; boundary=${BOUNDARY}`, {
      async onFile({ body }) {
        for await (const _piece of body);
      },
      async discard() {},
    });
    times.push(performance.now() - start);
  }
  return [{ metric: 'upload form of 100 MiB: time to read', value: median(times), unit: 'ms' }];
}

function formChunks(): Uint8Array[] {
  const head = Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`);
  const form = Buffer.concat([head, randomFillSync(Buffer.alloc(FILE_BYTES)), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  return Array.from({ length: Math.ceil(form.length / CHUNK_BYTES) }, (_, at) =>
    form.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  );
}

async function* sourceOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk;
}
