// Uses the TypeScript client in a runtime that is not Node.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { createReadStream, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { FileHosting, FileHostingError, uploadTo } from 'file-hosting-client';

const hosting = new FileHosting();
const bytesOf = async (stream) => Buffer.from(await new Response(stream).arrayBuffer());

/** Loses the first answer. */
function losing() {
  let answers = 0;
  return async (url, options) => {
    const answer = await fetch(url, options);
    if (answers++ === 0) throw new TypeError('the answer was lost');
    return answer;
  };
}

async function stores(content) {
  writeFileSync('content.bin', content);
  const inPieces = async function* () {
    for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
  };
  const sources = {
    path: () => 'content.bin',
    URL: () => pathToFileURL('content.bin'),
    File: () => new File([content], 'f.bin'),
    Uint8Array: () => content,
    ReadableStream: () => new Blob([content]).stream(),
    'stream of Node': () => createReadStream('content.bin'),
    iterable: inPieces,
  };
  for (const [name, source] of Object.entries(sources)) {
    const sent = [];
    const file = await hosting.upload(source(), { name, onProgress: ({ sentBytes }) => sent.push(sentBytes) });
    assert.equal(sent.at(-1), content.length, name);
    assert(content.equals(await bytesOf(hosting.download(file))), name);

    const idempotencyKey = `${name}, ${content.length}`;
    const first = await hosting.upload(source(), { name, idempotencyKey });
    await hosting.delete(first.id);
    const { id, isReplay, isDeleted } = await hosting.upload(source(), { name, idempotencyKey });
    assert.deepEqual([id, isReplay, isDeleted], [first.id, true, true], name);

    const stop = new AbortController();
    const aborted = hosting.upload(source(), { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(aborted, { code: 'aborted' });
  }
  const ticket = await hosting.createTicket({ name: 'ticket', size: content.length });
  await uploadTo(ticket, new Blob([content]), { fetch: losing() });
  const file = await hosting.complete(ticket.id);
  let start;
  const reader = hosting.download(file, { onStart: (point) => (start = point) }).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  const rest = await bytesOf(hosting.download(file, { after: { bytes: value.length, etag: start.etag } }));
  assert(content.equals(Buffer.concat([value, rest])));
}

(async () => {
  await stores(Buffer.alloc(300_000, 'The quick brown fox. '));
  await stores(Buffer.alloc(5 * 1024 * 1024, 'The quick brown fox. '));
  await new FileHosting({ fetch: losing() }).upload(new Blob(['once']));
  // Seven sources and a ticket of each size, and one file more.
  assert.equal((await hosting.list()).total, 17);
  for await (const { id } of hosting.listAll()) await hosting.delete(id);
  assert.equal((await hosting.usage()).file_count, 0);
  await assert.rejects(hosting.get('unknown'), (error) => error instanceof FileHostingError && error.status === 404);
  console.log('done');
})();
