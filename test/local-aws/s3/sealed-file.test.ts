import { pbkdf2 } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { writeDraft } from '../../../local-aws/s3/sealed-file.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

/** Keeps the threads that open files busy, so that an open is often still under way when the content fails. */
const keepDiskWaiting = () =>
  Promise.all(Array.from({ length: 16 }, () => promisify(pbkdf2)('', '', 20_000, 64, 'sha512')));

async function* contentThatFails(chunks: number) {
  for (let chunk = 0; chunk < chunks; chunk++) yield Buffer.from('chunk');
  throw new Error('cut');
}

test('content that fails leaves no file, however slow the disk is', async () => {
  const directory = temporaryDirectory();
  for (let chunks = 4; chunks < 8; chunks++) {
    const waiting = keepDiskWaiting();
    const drafts = Array.from({ length: 64 }, () => writeDraft(directory, contentThatFails(chunks), []));
    const outcomes = await Promise.allSettled(drafts);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    await waiting;
  }
  expect(readdirSync(directory)).toEqual([]);
});
