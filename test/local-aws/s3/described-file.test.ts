import { pbkdf2 } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { finishDraft, readRecord, writeDraft } from '../../../local-aws/s3/described-file.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

/** Keeps the threads that open files busy, so that an open is often still under way when the content fails. */
const keepDiskWaiting = () =>
  Promise.all(Array.from({ length: 16 }, () => promisify(pbkdf2)('', '', 20_000, 64, 'sha512')));

const MIB = 1024 * 1024;

/** Each chunk begins a write. */
async function* contentThatFails(chunks: number) {
  for (let chunk = 0; chunk < chunks; chunk++) yield Buffer.alloc(MIB);
  throw new Error('cut');
}

test('content that fails leaves no file, however slow the disk is', async () => {
  const directory = temporaryDirectory();
  for (let chunks = 0; chunks < 4; chunks++) {
    const waiting = keepDiskWaiting();
    const drafts = Array.from({ length: 24 }, () => writeDraft(directory, contentThatFails(chunks), []));
    const outcomes = await Promise.allSettled(drafts);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    await waiting;
  }
  expect(readdirSync(directory)).toEqual([]);
});

const finishedDirectory = temporaryDirectory();

test.each([
  ['without content', []],
  ['of a few bytes', [1, 2]],
  ['that ends with a piece', [MIB - 1, 1, MIB]],
  ['whose last piece is short', [MIB + 1, MIB, 7]],
  ['of many chunks', Array.from({ length: 40 }, (_, index) => 60_000 + index)],
])('a file %s holds its content, and then its record', async (_, lengths) => {
  const chunks = lengths.map((length, index) => Buffer.alloc(length, index + 1));
  async function* content() {
    yield* chunks;
  }
  const draft = await writeDraft(finishedDirectory, content(), []);
  await finishDraft(draft, { name: 'record' });
  const whole = Buffer.concat(chunks);
  expect(draft.size).toBe(whole.length);
  expect(readFileSync(draft.path).subarray(0, whole.length).equals(whole)).toBe(true);
  expect(await readRecord(draft.path)).toEqual({ name: 'record' });
});
