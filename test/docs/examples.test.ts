import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import { samplesOf } from '../../shared/contract/samples.ts';
import { SCHEMAS } from '../../shared/contract/schemas.ts';
import type { Route } from '../../shared/route.ts';
import { askForTicket, put } from '../support/lanes.ts';
import { checkTypes, newProject } from '../support/project.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type Block, blocksOf } from './blocks.ts';
import { MISSING, NOT_RUN, type Place, prepareProject, RUNNERS } from './run-example.ts';

/**
 * Runs every example of the documents against the local service: the blocks in the languages of RUNNERS, and the samples of the API
 * reference. The blocks run page by page and from top to bottom, as a reader would run them. A block that is not run has a mark
 * (./blocks.ts) that says why.
 */

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync(
  ['*.md', 'docs/**/*.md', 'examples/*.md', 'clients/*/README.md', 'local-aws/*.md', 'test/*.md'],
  {
    cwd: ROOT,
  },
).sort();
const blocksOfPage = (page: string) => blocksOf(readFileSync(join(ROOT, page), 'utf8'));

/** The languages of blocks that are data, or pictures made of characters. */
const NO_PROGRAMS = ['', 'json'];

/** The reasons that a mark may give, each with a pattern that every line of its block must match. */
const REASONS: Readonly<Record<string, RegExp>> = {
  'it starts the service': /\bnpm start$/,
  'it runs tests': /\bnpx vitest run |\bnpm run test:soak /,
  'it needs a registry of packages': /^npm install /,
};

const isRun = ({ language, mark }: Block) => language in RUNNERS && mark === undefined;
const codesIn = (language: string): string[] =>
  PAGES.flatMap((page) => blocksOfPage(page).filter((block) => isRun(block) && block.language === language)).map(
    ({ code }) => code,
  );

const SAMPLES = Object.values<Route>(ROUTES).flatMap((route) =>
  samplesOf(route).map((sample) => ({ ...sample, route, name: route.name })),
);
const LANGUAGE_OF = { Shell: 'sh', TypeScript: 'ts', Python: 'python', Go: 'go' } as const;

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

/** The first build of the examples in Go takes a minute. */
const PREPARATION_MAX_MS = 5 * 60_000;

let service: TestService;
/** A project that has the client; the examples run in it. */
let project: string;

beforeAll(async () => {
  service = await borrowTestService();
  project = await newProject();
  await prepareProject(project, [
    ...codesIn('go'),
    ...SAMPLES.filter(({ lang }) => lang === 'Go').map(({ source }) => source),
  ]);
}, PREPARATION_MAX_MS);
afterAll(async () => {
  await rm(project, { recursive: true });
  await service.close();
});

/** Replaces the placeholders for addresses, keys and ids by real ones, as a reader would. */
function filled(code: string, key: string, id: string): string {
  return code
    .replaceAll(/http:\/\/localhost:8787|https:\/\/files\.example\.com/g, service.urls.root_url)
    .replaceAll('svc_test_…', key)
    .replaceAll('<id>', id);
}

/** Where examples run with an account. The variables hold the account's key and the cookie of its session. */
const placeOf = ({ key, cookie }: TestAccount, more: Record<string, string> = {}): Place => ({
  project,
  variables: {
    FILE_HOSTING_URL: service.urls.root_url,
    FILE_HOSTING_KEY: key,
    FILE_HOSTING_COOKIE: cookie,
    ...more,
  },
});

/** Runs the examples of a page with a new account. @returns what each has printed, by its line. */
async function runPage(page: string): Promise<Map<number, string>> {
  const account = await service.newAccount();
  const printed = new Map<number, string>();
  let id = '';
  for (const { language, code, line, mark } of blocksOfPage(page)) {
    const runner = RUNNERS[language];
    if (runner === undefined || mark !== undefined || NOT_RUN.has(language)) continue;
    const output = await runner(filled(code, account.key, id), placeOf(account)).catch((error: Error) => {
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
  const ofPages = codesIn('ts');
  expect(ofPages.length).toBeGreaterThan(5);
  const ofPrograms = SAMPLES.filter(({ route, lang }) => lang === 'TypeScript' && route.access !== 'session');
  const codes = [...ofPages, ...ofPrograms.map(({ source }) => source)];
  const names = codes.map((_, at) => `typed-${at}.ts`);
  await Promise.all(names.map((name, at) => writeFile(join(project, name), codes[at] ?? '')));
  await checkTypes(project, ...names);
});

describe('the samples of the API reference', () => {
  // Samples in TypeScript that use a session run in a page instead: test/dashboard/reference.test.ts.
  const here = SAMPLES.filter(
    ({ route, lang }) => !NOT_RUN.has(LANGUAGE_OF[lang]) && !(lang === 'TypeScript' && route.access === 'session'),
  );

  /** What the path of an operation names: a file, a direct upload whose bytes have arrived, a key, or another session. */
  async function idFor({ name }: Route, account: TestAccount): Promise<string> {
    if (name === 'completeUpload' || name === 'cancelUpload') {
      const { body } = await askForTicket(account.byKey, 'film.mp4', 5);
      if (name === 'completeUpload') await put(body, 'hello');
      return String(body.id);
    }
    if (name === 'endSession') {
      await logIn({ startUrl: `${service.urls.base_url}/auth/google`, email: account.email });
      const { body } = await account.bySession.request<{ items: { id: string; current: boolean }[] }>(
        'GET',
        '/auth/sessions',
      );
      return String(body.items.find(({ current }) => !current)?.id);
    }
    if (name === 'revokeApiKey')
      return String((await account.bySession.postJson('/api-keys', { name: 'old' })).body.id);
    return String((await account.byKey.upload('photo.jpg', 'content')).body.id);
  }

  let shared: TestAccount;
  beforeAll(async () => {
    shared = await service.newAccount();
  });

  test.each(here)('the sample of $name in $label works', async ({ route, lang, label, source }) => {
    const account = route.name === 'logout' || route.name === 'endSessions' ? await service.newAccount() : shared;
    const ID = route.path.includes('{id}') ? await idFor(route, account) : '';
    const output = await RUNNERS[LANGUAGE_OF[lang]]?.(source, placeOf(account, { ID }));
    if (lang === 'TypeScript') return;
    // A program of several requests ends with the file.
    const [{ body = 'ErrorAnswer' } = {}] = label.includes('whole')
      ? [{ body: 'FileRecord' } as const]
      : route.operation.successes;
    const answer = JSON.parse(String(output));
    expect(Object.keys(answer)).toEqual(expect.arrayContaining([...SCHEMAS[body].required]));
    expect(Object.keys(SCHEMAS[body].properties)).toEqual(expect.arrayContaining(Object.keys(answer)));
  });

  const whole = here.filter(({ label }) => label.includes('whole'));
  test.each(whole)('the sample of $name in $label uploads an empty file', async ({ lang, source }) => {
    const directory = join(project, `empty-${lang}`);
    await mkdir(directory);
    await writeFile(join(directory, 'film.mp4'), '');
    // The programs in Go.
    await symlink(join(project, 'go'), join(directory, 'go'));
    const output = await RUNNERS[LANGUAGE_OF[lang]]?.(source, { ...placeOf(shared), project: directory });
    expect(String(output)).toContain('"size_bytes":0');
  });

  const inShellOrPython = here.filter(
    ({ route, lang }) => (lang === 'Shell' || lang === 'Python') && route.access !== 'public',
  );
  test.each(inShellOrPython)(
    'the sample of $name in $label fails with a wrong key or session, and prints the error of the service',
    async ({ lang, source }) => {
      const wrong = { key: 'svc_test_wrong', cookie: `${shared.cookie.split('=')[0]}=wrong` };
      // With this CURL_HOME curl does not read the .curlrc of the examples, so the sample itself has to make curl fail and print the error.
      const place = placeOf({ ...shared, ...wrong }, { ID: UNKNOWN_ID, CURL_HOME: '/nowhere' });
      const failure = await RUNNERS[LANGUAGE_OF[lang]]?.(source, place).catch((error: unknown) => error);
      expect(failure).toMatchObject(
        lang === 'Shell'
          ? { code: expect.any(Number), stdout: expect.stringMatching(/^{"error":"unauthorized"}/) }
          : { message: expect.stringContaining('SystemExit: {"error":"unauthorized"}') },
      );
    },
  );

  test.skipIf(MISSING.has('go'))('in Go are formatted as gofmt does it', async () => {
    const { stdout } = await promisify(execFile)('gofmt', ['-l', '.'], { cwd: join(project, 'go') });
    expect(stdout.split('\n').filter((name) => name.startsWith('example'))).toEqual([]);
  });
});
