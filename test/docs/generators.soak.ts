import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { transform } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentHash } from '../../docs/document-hash.ts';
import { newProject } from '../support/project.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { CLIENTS, type GeneratedClient, markOf, nameOf } from './generators/clients.ts';
import {
  COMPILERS,
  commandOf,
  compilerOf,
  lacking,
  MARK_OF_SCHEMATHESIS,
  python,
  RUNTIMES,
  run,
} from './generators/tools.ts';

/**
 * Makes clients from the OpenAPI document by the generators of others, compiles them, and uses them. Generators that are not installed
 * (`test/docs/generators/install.ts`) are skipped, and their rows of the table stay as they are.
 */

const RECORD = join(import.meta.dirname, '../../docs/generated-clients.json');

/** What each program of `generators/programs/` prints, step by step. */
const STEPS = ['upload', 'list', 'read', 'usage', 'delete', 'ticket'] as const;

/** What Schemathesis may find, and why: the kind of failure, with the operations that have it. */
const ACCEPTED = {
  'A size over the limit is 413 `file_too_large`; Schemathesis expects 400 for every value that the document excludes.':
    {
      type: 'AcceptedNegativeData',
      operations: /^POST \/api\/v1\/uploads$/,
    },
  'CloudFront refuses TRACE itself, with 403 and HTML; Schemathesis expects 405.': {
    type: 'UnsupportedMethodResponse',
    operations: /^TRACE /,
  },
} as const;

const NOT_INSTALLED = 'it is not installed; "npx node test/docs/generators/install.ts" does that';

let service: TestService;
let directory: string;
let document: string;
const rows: Record<string, Record<string, string>> = JSON.parse(await readFile(RECORD, 'utf8'));

beforeAll(async () => {
  service = await startTestService({
    RATE_LIMIT_LISTS_PER_MINUTE: '100000',
    RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
    RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
  });
  directory = await mkdtemp(join(tmpdir(), 'file-hosting-generators-'));
  document = join(directory, 'openapi.json');
  const answer = await fetch(new URL('/api/v1/openapi.json', service.urls.root_url));
  await writeFile(document, await answer.text());
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await service.close();
});

const absenceOf = (client: GeneratedClient): string | undefined => {
  const program = lacking(client.programs);
  if (program) return `this machine lacks ${program}`;
  return existsSync(markOf(client)) ? undefined : NOT_INSTALLED;
};

test.for(CLIENTS.map((client) => [nameOf(client), client] as const))(
  'the client of %s compiles, uploads, lists, reads, deletes and uses a ticket',
  async ([name, client], { skip }) => {
    const absence = absenceOf(client);
    if (absence) {
      console.warn(`${name} is skipped: ${absence}.`);
      skip(absence);
    }
    const place = await mkdtemp(join(directory, 'client-'));
    const { byKey, key } = await service.newAccount();
    const file = join(place, `${client.language}.jpg`);
    await writeFile(file, `sent by ${name}`);
    const row: Record<string, string> = { version: client.version, compiles: 'no' };
    for (const step of STEPS) row[step] = 'no';
    row.document = documentHash();
    rows[name] = row;
    await client.generate(document, place);
    await client.compile(place);
    row.compiles = 'yes';
    const env = { FILE: file, FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
    let failure: unknown;
    const printed = await client.use(place, env).catch((error: Error & { printed?: string }) => {
      failure = error;
      return error.printed ?? '';
    });
    for (const step of printed.split('\n').filter((line) => line !== '')) row[step] = 'yes';
    expect(failure).toBeUndefined();
    expect(row).toEqual({
      version: client.version,
      ...Object.fromEntries(['compiles', ...STEPS].map((step) => [step, 'yes'])),
      document: documentHash(),
    });
    // What the ticket has stored is the only file left.
    const { body } = await byKey.request<{ items: { name: string; mime_type: string; url: string }[] }>(
      'GET',
      '/files',
    );
    expect(body.items).toMatchObject([{ name: basename(file), mime_type: 'image/jpeg' }]);
    expect(await (await fetch(String(body.items[0]?.url))).text()).toBe(`sent by ${name}`);
  },
);

test('docs/generated-clients.json is what the generators that are installed do', async () => {
  await expect(`${JSON.stringify(rows, null, 2)}\n`).toMatchFileSnapshot(RECORD);
});

test.for([...COMPILERS, 'of the project'])(
  'TypeScript %s accepts the types of the TypeScript client, without skipLibCheck',
  async (version, { skip }) => {
    const isOwn = version === 'of the project';
    const compiler = isOwn ? join(import.meta.dirname, '../../node_modules/typescript/bin/tsc') : compilerOf(version);
    if (!existsSync(compiler)) {
      console.warn(`TypeScript ${version} is skipped: ${NOT_INSTALLED}.`);
      skip(NOT_INSTALLED);
    }
    const project = await newProject();
    for (const name of ['page.ts', 'page.cts']) await writeFile(join(project, name), PAGE);
    // Those of Node are not there (`typeRoots`): they do not work with old versions themselves.
    const strict = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom', '--typeRoots', 'none'];
    for (const resolution of [
      ['--module', 'node16'],
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
    ]) {
      await run(
        process.execPath,
        [compiler, ...strict, ...resolution, '--skipLibCheck', 'false', 'page.ts', 'page.cts'],
        {
          cwd: project,
        },
      );
    }
    await rm(project, { recursive: true });
  },
);

/** A program that uses each part of the client's types. */
const PAGE = `import { FileHosting, type FileHostingError, type FileRecord, uploadTo } from 'file-hosting-client';
  export async function send(hosting: FileHosting, blob: Blob): Promise<FileRecord> {
    await hosting.upload(blob, { onProgress: ({ sentBytes }) => sentBytes.toFixed() });
    const ticket = await hosting.createTicket({ name: 'a', size: 3 });
    await uploadTo(ticket, blob);
    const file = await hosting.complete(ticket.id);
    const reader: ReadableStreamDefaultReader<Uint8Array> = hosting.download(file).getReader();
    await reader.read();
    for await (const { id } of hosting.listAll()) await hosting.delete(id);
    return file;
  }
  // @ts-expect-error
  new FileHosting({ fetch, address: 'x' });
  export const isStalled = ({ code }: FileHostingError): boolean => code === 'stalled';
`;

test.for(Object.entries(RUNTIMES))(
  'the TypeScript client uploads, downloads, aborts and deletes in %s, imported and required',
  async ([runtime, args], { skip }) => {
    const readme = await readFile(join(import.meta.dirname, '../../clients/typescript/README.md'), 'utf8');
    expect(readme.toLowerCase()).toContain(runtime.replace('@', ' '));
    const command = commandOf(runtime);
    if (!existsSync(command)) {
      console.warn(`${runtime} is skipped: ${NOT_INSTALLED}.`);
      skip(NOT_INSTALLED);
    }
    const project = await newProject();
    const program = await readFile(join(import.meta.dirname, 'generators/programs/in-each-runtime.mjs'), 'utf8');
    await writeFile(join(project, 'program.mjs'), program);
    await writeFile(join(project, 'program.cjs'), (await transform(program, { format: 'cjs' })).code);
    for (const file of ['program.mjs', 'program.cjs']) {
      const { key } = await service.newAccount();
      const env = { FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
      expect(await run(command, [...args, file], { cwd: project, env })).toBe('done\n');
    }
    await rm(project, { recursive: true });
  },
);

test('all checks of Schemathesis find only what is accepted', async ({ skip }) => {
  if (!existsSync(MARK_OF_SCHEMATHESIS)) {
    console.warn(`Schemathesis is skipped: ${NOT_INSTALLED}.`);
    skip(NOT_INSTALLED);
  }
  // The requests with the session revoke keys of its account, so the key is of another account.
  const [withKey, withSession] = [await service.newAccount(), await service.newAccount()];
  const settings = join(directory, 'schemathesis.toml');
  const [, session = ''] = /=([^;]+)/.exec(withSession.cookie) ?? [];
  await writeFile(
    settings,
    `[auth.openapi.ByKey]\nbearer = "${withKey.key}"\n[auth.openapi.BySession]\napi_key = "${session}"\n`,
  );
  const endSession = ['logout', 'endSessions'];
  const found = [
    ...(await schemathesis(
      settings,
      endSession.flatMap((name) => ['--exclude-operation-id', name]),
    )),
    // After these requests nothing else could be tried with the session.
    ...(await schemathesis(
      settings,
      endSession.flatMap((name) => ['--include-operation-id', name]),
    )),
  ];
  const accepted = Object.values(ACCEPTED);
  expect(found.filter((one) => !accepted.some((rule) => isAccepted(one, rule)))).toEqual([]);
  expect(accepted.filter((rule) => !found.some((one) => isAccepted(one, rule)))).toEqual([]);
});

interface Failure {
  readonly type: string;
  readonly operations: readonly string[];
}

const isAccepted = ({ type, operations }: Failure, rule: { type: string; operations: RegExp }) =>
  type === rule.type && operations.every((operation) => rule.operations.test(operation));

/** Runs all checks with a fixed seed. @returns the failures, by kind. @throws Error when the run had errors, or was not complete. */
async function schemathesis(settings: string, operations: readonly string[]): Promise<readonly Failure[]> {
  const report = join(directory, 'schemathesis.json');
  const examples = ['--seed', '1', '--max-examples', '5', '--header', `Origin: ${service.urls.root_url}`];
  const output = ['--no-color', '--report', 'json', '--report-json-path', report];
  const address = new URL('/api/v1/openapi.json', service.urls.root_url).href;
  const cli = ['-m', 'schemathesis.cli', '--config-file', settings, 'run', address];
  const settled = python([...cli, '--checks', 'all', ...examples, ...operations, ...output], { cwd: directory });
  // It fails as well when it finds something, so the report decides.
  const printed = await settled.catch((error: Error) => error.message);
  const { complete, errors, failures } = JSON.parse(await readFile(report, 'utf8').catch(() => '{}'));
  expect([complete, errors], printed).toEqual([true, []]);
  await rm(report);
  return failures;
}
