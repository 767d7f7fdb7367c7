import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { inherited } from '../../support/inherited.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

/** The files whose tests ask any S3. */
const FILES = ['copies', 'cors', 'integrity', 'listing', 'multipart', 'objects'];

interface Report {
  readonly testResults: readonly {
    /** Why the file failed besides its tests. */
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs the tests in a process of its own. They need neither DynamoDB Local nor the synthesized templates. */
async function askOther(address: string): Promise<Report> {
  const outputFile = join(temporaryDirectory(), 'report.json');
  const vitest = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs');
  const options = [
    '--root',
    import.meta.dirname,
    '--reporter',
    'json',
    '--outputFile',
    outputFile,
    '--testTimeout',
    '60000',
  ];
  const env = { ...inherited(), OTHER_S3: address };
  // It fails when a test fails; the report says which.
  await promisify(execFile)(process.execPath, [vitest, 'run', ...options, ...FILES], { env }).catch(() => {});
  return JSON.parse(readFileSync(outputFile, 'utf8'));
}

/** How the names of the tests begin that the page of evidence says an engine fails. An engine calls itself by its header `Server`. */
function knownDifferences(server: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const section = page.split(/^#+ /m).find((text) => text.toLowerCase().startsWith(`where ${server.toLowerCase()} `));
  const firstColumn = [...(section ?? '').matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell).join();
  return [...firstColumn.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

test('another S3 passes the tests of S3, except those that the page of evidence lists', async ({ skip }) => {
  const address = process.env.OTHER_S3;
  if (address === undefined) return skip('OTHER_S3 names no other S3');
  const { headers } = await fetch(new URL(address).origin);
  const known = knownDifferences(headers.get('server') ?? '');
  const { testResults } = await askOther(address);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.filter(({ status }) => status !== 'passed').map(({ fullName }) => fullName);
  expect(testResults.map(({ message }) => message)).toEqual(FILES.map(() => ''));
  expect(failed.filter((name) => !known.some((beginning) => name.startsWith(beginning)))).toEqual([]);
  expect(known.filter((beginning) => !tests.some(({ fullName }) => fullName.startsWith(beginning)))).toEqual([]);
});
