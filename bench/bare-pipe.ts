import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { objectStore } from '../shared/aws/object-store.ts';
import { inParts, PART_BYTES } from '../shared/files/parts.ts';

/**
 * A process that stores the body of every request as an object in parts, and does nothing else: no edge, no form, no account. The benchmark
 * compares the streaming lane with this process. The process listens at the port that is its only argument.
 */

const DESCRIPTION = {
  owner: { accountId: 'bench', id: 'bench' },
  mimeType: 'application/octet-stream',
  contentDisposition: 'attachment',
};

createServer({ requestTimeout: 0 }, async (request, response) => {
  await objectStore.putInParts(`uploads/bench-${randomUUID()}`, bytesOf(request), DESCRIPTION);
  response.writeHead(201).end();
}).listen(Number(process.argv[2]), '127.0.0.1');

async function* bytesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const { bytes } of inParts(body, PART_BYTES)) yield bytes;
}
