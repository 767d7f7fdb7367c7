import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inherited } from '../support/inherited.ts';
import { checkTypes, newProject } from '../support/project.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type Block, blocksOf } from './blocks.ts';

/**
 * Runs every example of the documents against the local service: the blocks in the languages of RUNNERS, page by page and from
 * top to bottom, as a reader would. A block that is not run has a mark (./blocks.ts) that says why.
 */

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync(['*.md', 'docs/*.md', 'clients/*/README.md', 'local-aws/*.md', 'test/*.md'], {
  cwd: ROOT,
}).sort();
const blocksOfPage = (page: string) => blocksOf(readFileSync(join(ROOT, page), 'utf8'));

/** The languages of blocks that are data, or pictures made of characters. */
const NO_PROGRAMS = ['', 'json'];

/** The reasons that a mark may give, and what is in each line of a block that has this reason. */
const REASONS: Readonly<Record<string, RegExp>> = {
  'it starts the service': /\bnpm start$/,
  'it runs tests': /\bnpm test$|^npx vitest run /,
  'it needs a registry of packages': /^npm install /,
};

let service: TestService;
/** A project that has the client; the examples run in it. */
let project: string;

beforeAll(async () => {
  service = await borrowTestService();
  project = await newProject();
  // curl fails when the answer is an error, which it would only print.
  await writeFile(join(project, '.curlrc'), 'silent\nshow-error\nfail-with-body\n');
  for (const name of ['photo.jpg', 'report.pdf', 'backup.tar'])
    await writeFile(join(project, name), `This is ${name}.`);
});
afterAll(async () => {
  await rm(project, { recursive: true });
  await service.close();
});

type Run = (command: string, args: readonly string[]) => Promise<string>;

/** Runs a program in the project. @returns what it prints. @throws Error with that when it fails. */
const runAs =
  ({ key }: TestAccount): Run =>
  async (command, args) => {
    const variables = { CURL_HOME: project, FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
    const options = { cwd: project, env: { ...inherited(), ...variables } };
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return stdout + stderr;
  };

/** How the examples in each language are run. */
const RUNNERS: Readonly<Record<string, (code: string, run: Run) => Promise<string>>> = {
  sh: (code, run) => run('sh', ['-ec', code]),
  async ts(code, run) {
    const file = join(project, 'example.ts');
    await writeFile(file, code);
    return run(process.execPath, [file]);
  },
};

/** Puts what a reader would put in place of the examples of addresses, keys and ids. */
function filled(code: string, key: string, id: string): string {
  return code
    .replaceAll(/http:\/\/localhost:8787|https:\/\/files\.example\.com/g, service.urls.root_url)
    .replaceAll('svc_test_…', key)
    .replaceAll('<id>', id);
}

/** Runs the examples of a page with a new account. @returns what each has printed, by its line. */
async function runPage(page: string): Promise<Map<number, string>> {
  const account = await service.newAccount();
  const printed = new Map<number, string>();
  let id = '';
  for (const { language, code, line, mark } of blocksOfPage(page)) {
    const runner = RUNNERS[language];
    if (runner === undefined || mark !== undefined) continue;
    const output = await runner(filled(code, account.key, id), runAs(account)).catch((error: Error) => {
      throw new Error(`${page}:${line} does not work: ${error.message}`);
    });
    printed.set(line, output);
    id = /"id":"([^"]+)"/.exec(output)?.[1] ?? id;
  }
  return printed;
}

describe.each(PAGES)('%s', (page) => {
  test('has only examples that are run, or have a mark with a known reason or with tests that exist', () => {
    for (const { language, code, line, mark } of blocksOfPage(page)) {
      const place = `${page}:${line}`;
      expect([place, ...Object.keys(RUNNERS), ...NO_PROGRAMS]).toContain(language);
      const [, reason] = /^not run: (.*)/.exec(mark?.text ?? '') ?? [];
      if (reason !== undefined) {
        expect([place, Object.keys(REASONS)]).toEqual([place, expect.arrayContaining([reason])]);
        for (const command of code.trim().split('\n'))
          expect([place, command]).toEqual([place, expect.stringMatching(REASONS[reason] ?? '')]);
      }
      const [, tests = ''] = /^checked by (.*)/.exec(mark?.text ?? '') ?? [];
      expect([place, tests.split(' ').filter((file) => file !== '' && !existsSync(join(ROOT, file)))]).toEqual([
        place,
        [],
      ]);
    }
  });
});

const isRun = ({ language, mark }: Block) => language in RUNNERS && mark === undefined;
const withExamples = PAGES.filter((page) => blocksOfPage(page).some(isRun));

test.each(withExamples)('the examples of %s work, and print something', async (page) => {
  for (const [line, output] of await runPage(page)) expect([line, output]).not.toEqual([line, '']);
});

test("the README's first upload has the answer that it shows; its list has the file, which is then deleted", async () => {
  const [uploaded = '', rest = ''] = (await runPage('README.md')).values();
  const [, shown = '{}'] = /```json\n\s*({.*})\n/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const file = JSON.parse(uploaded);
  const { name, mime_type, ...others } = JSON.parse(shown);
  expect(file).toMatchObject({ name, mime_type, size_bytes: 'This is photo.jpg.'.length });
  expect(Object.keys(file).sort()).toEqual(['name', 'mime_type', ...Object.keys(others)].sort());
  expect(rest).toBe(`{"items":[${uploaded}],"page":1,"limit":10,"total":1}{"id":"${file.id}","deleted":true}`);
});

test('the examples in TypeScript have the right types', async () => {
  const codes = PAGES.flatMap((page) => blocksOfPage(page).filter((block) => isRun(block) && block.language === 'ts'));
  expect(codes.length).toBeGreaterThan(5);
  const names = codes.map((_, at) => `typed-${at}.ts`);
  await Promise.all(names.map((name, at) => writeFile(join(project, name), codes[at]?.code ?? '')));
  await checkTypes(project, ...names);
});
