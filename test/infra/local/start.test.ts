import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../../../local-aws/host/ports.ts';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import { client } from '../../support/client.ts';
import { inherited } from '../../support/inherited.ts';
import { askForTicket, put } from '../../support/lanes.ts';
import { engineOn, processesOn } from '../../support/start-process.ts';

/** Runs `npm start` as a process, and checks its output, its addresses and how it ends. */

const ROOT = join(import.meta.dirname, '../../..');
const START = join(ROOT, 'infra/local/start.ts');

const directories: string[] = [];
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(directories.map((path) => rm(path, { recursive: true, force: true })));
});

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'start-'));
  directories.push(path);
  return path;
}

function launch(environment: Record<string, string>): ChildProcess {
  // The bundles exist already: the set-up of the test run has built them with the function that `npm start` calls.
  const env = { ...inherited(), CDK_BUNDLES: join(inject('assembly'), 'bundles'), ...environment };
  const child = spawn(process.execPath, [START], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

interface Started {
  readonly child: ChildProcess;
  readonly urls: Record<'root_url' | 'base_url' | 'cdn_url' | 'dashboard_url' | 'identity_provider_url', string>;
  readonly lines: string[];
  /** The lines of stderr. */
  readonly errors: string[];
}

/** A proxy that nobody can reach, and an order to Node to use it. */
const AWAY = { HTTP_PROXY: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' };

/** Requests are limited, too. */
const SELDOM = { interval: 500 };

/** Waits for the line `READY`. */
async function ready(environment: Record<string, string>): Promise<Started> {
  const child = launch(environment);
  const [lines, errors]: [string[], string[]] = [[], []];
  const urls = new Promise<Started['urls']>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('READY ')) resolve(JSON.parse(line.slice('READY '.length)));
    });
    const printed = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    printed.on('line', (line) => errors.push(line));
    printed.on('close', () => reject(new Error(errors.join('\n'))));
  });
  return { child, urls: await urls, lines, errors };
}

interface Page {
  readonly items?: readonly { readonly name: string }[];
}

/** Waits until a start that fails has ended. @returns its exit code and stderr. */
async function failedStart(environment: Record<string, string>) {
  const child = launch(environment);
  const [stderr, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'exit')]);
  return { code, stderr };
}

describe('a start', () => {
  let dataDir: string;
  let port: string;
  let environment: Record<string, string>;
  let first: Started;
  let second: Started;
  let key: string;

  beforeAll(async () => {
    dataDir = await directory();
    port = String(await freePort());
    environment = { PORT: port, DATA_DIR: dataDir, RATE_LIMIT_LISTS_PER_MINUTE: '7', ...AWAY };
    first = await ready(environment);
    const { cookies } = await logIn({ startUrl: `${first.urls.base_url}/auth/google`, email: 'me@example.com' });
    const made = await client(first.urls.base_url, { cookie: cookies }).postJson('/api-keys', { name: 'test' });
    key = String(made.body.key);
  });

  test('prints its steps and then its addresses: the app on localhost, the others on 127.0.0.1', () => {
    expect(first.lines.length).toBeGreaterThan(1);
    expect(first.urls).toEqual({
      root_url: `http://localhost:${port}`,
      base_url: `http://localhost:${port}/api/v1`,
      dashboard_url: `http://localhost:${port}`,
      cdn_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      identity_provider_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    });
  });

  test('prints with each request that is refused the reason which its answer gives', async () => {
    const answer = await client(first.urls.base_url, { key }).postJson('/uploads', { name: 'a', mime_type: 'a/b' });
    const reason = answer.headers.get('error-detail');
    expect([answer.status, reason]).toEqual([400, expect.stringMatching(/size_bytes/)]);
    await expect.poll(() => first.lines.filter((line) => line.endsWith(` (${reason})`))).toHaveLength(1);
  });

  test('prints lines that upload a file without a browser when they are pasted', async () => {
    const ready = first.lines.findIndex((line) => line.startsWith('READY '));
    await expect.poll(() => first.lines.join('\n')).toContain('Ctrl-C stops');
    const pasted = first.lines.slice(ready + 1).filter((line) => line.startsWith('  '));
    expect(pasted).toHaveLength(2);
    const env = { ...inherited(), ...AWAY };
    const { stdout } = await promisify(execFile)('sh', ['-ec', pasted.join('\n')], { cwd: ROOT, env });
    const file = JSON.parse(stdout);
    expect(file).toMatchObject({ name: 'README.md', url: expect.stringContaining(first.urls.cdn_url) });
    expect(await (await fetch(file.url)).text()).toBe(await readFile(join(ROOT, 'README.md'), 'utf8'));
  });

  test('says how programs get past a proxy', async () => {
    await expect.poll(() => first.lines.join('\n')).toContain('if NO_PROXY has localhost,127.0.0.1.');
  });

  test('takes the limits from the environment', async () => {
    const { headers } = await client(first.urls.base_url, { key }).request('GET', '/files');
    expect(headers.get('ratelimit-policy')).toBe('"lists";q=7;w=60');
  });

  test('prints a line for each request, without its query', async () => {
    const { headers } = await client(first.urls.base_url, { key }).request('GET', '/files?search=secret');
    const line = new RegExp(`^GET /api/v1/files 200 \\d+ ms ${headers.get('x-request-id')}$`);
    await expect.poll(() => first.lines).toContainEqual(expect.stringMatching(line));
    expect(first.lines.join('\n')).not.toContain('secret');
  });

  test('goes on with the same data when the process of the database has died, and says so', async () => {
    const requests = client(first.urls.base_url, { key });
    const status = () => requests.request('GET', '/usage').then(({ status }) => status);
    expect(await status()).toBe(200);
    process.kill(engineOn(dataDir), 'SIGKILL');
    await expect.poll(() => first.errors.join('\n')).toContain('It is started again.');
    // The key is data, too.
    await expect.poll(status, SELDOM).toBe(200);
    expect(first.errors.filter((line) => /database/.test(line))).toEqual([
      'The database (Dynoxide) has ended by itself. It is started again.',
    ]);
  });

  test('fails while another instance uses the directory or the port', async () => {
    expect(await failedStart({ PORT: '0', DATA_DIR: dataDir })).toEqual({
      code: 1,
      stderr: `DATA_DIR ${dataDir} is in use by another running instance: stop it, or set DATA_DIR to another folder.\n`,
    });
    expect(await failedStart({ PORT: port, DATA_DIR: await directory() })).toEqual({
      code: 1,
      stderr: `Port ${port} is in use: set PORT to a free one.\n`,
    });
  });

  test('leaves no process running after a SIGKILL, and the next start has all acknowledged files', async () => {
    // A large upload, which starts the Web Function as a separate process.
    const large = new Uint8Array(5_000_000);
    const uploads = client(first.urls.base_url, { key });
    const names = ['first.bin', 'second.bin', 'third.bin'];
    const records = await Promise.all(names.map((name) => uploads.upload(name, name === 'first.bin' ? large : name)));
    expect(records.map(({ status }) => status)).toEqual([201, 201, 201]);
    // Bytes that arrive at the last moment become a file after the next start, without their client.
    const { body: ticket } = await askForTicket(uploads, 'fourth.bin', 5);
    expect(await put(ticket, 'hello')).toBe(200);
    const gone = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await gone;
    await expect.poll(() => processesOn(dataDir)).toEqual([]);

    second = await ready(environment);
    expect(second.urls).toEqual(first.urls);
    const requests = client(second.urls.base_url, { key });
    const fourth = () => requests.request('GET', `/files/${ticket.id}`).then(({ status }) => status);
    await expect.poll(fourth, SELDOM).toBe(200);
    const { body } = await requests.request<Page>('GET', '/files?search=.bin');
    expect(body.items?.map(({ name }) => name).sort()).toEqual([...names, 'fourth.bin'].sort());
    const link = await fetch(String(records[0]?.body.url));
    expect((await link.arrayBuffer()).byteLength).toBe(large.length);
  });

  test('goes on without its log when nobody reads the log any more, and ends in order', async () => {
    second.child.stdout?.destroy();
    const usage = () => client(second.urls.base_url, { key }).request('GET', '/usage');
    // Each of them is a line of the log.
    for (let request = 0; request < 3; request++) expect((await usage()).status).toBe(200);
    const ended = once(second.child, 'exit');
    second.child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await expect.poll(() => processesOn(dataDir)).toEqual([]);
  });

  test.each([
    ['ports.json', 'ports.json is damaged: restore it, or remove it to choose the ports anew'],
    ['dynamodb/dynoxide.db', 'dynamodb/dynoxide.db is missing or empty, but .*/s3 has objects: restore the folder'],
  ])('fails with one sentence when a kill has left an empty %s', async (name, sentence) => {
    const path = join(dataDir, name);
    const content = await readFile(path);
    await writeFile(path, '');
    const { code, stderr } = await failedStart(environment);
    await writeFile(path, content);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(`^${dataDir}/${sentence}[^\n]*\n$`) });
  });

  test('fails while another program has the port to which the links lead', async () => {
    const { port: cdn } = new URL(first.urls.cdn_url);
    const other = createServer().listen(Number(cdn), '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    expect(await failedStart(environment)).toEqual({
      code: 1,
      stderr: `Port ${cdn} is in use, but the links of the files in DATA_DIR lead to that port: free it.\n`,
    });
  });
});

test('ends when npm is killed, which hands no signal on', async () => {
  const dataDir = await directory();
  const env = { ...inherited(), CDK_BUNDLES: join(inject('assembly'), 'bundles'), PORT: '0', DATA_DIR: dataDir };
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: npm.stdout })) if (line.startsWith('READY ')) break;
  expect(processesOn(dataDir)).not.toEqual([]);
  npm.kill('SIGKILL');
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});

test('ends with one sentence when the database has died and cannot be started again', async () => {
  const dataDir = await directory();
  const { child, errors } = await ready({ PORT: '0', DATA_DIR: dataDir });
  const ended = once(child, 'close');
  // The engine would make a new one, without any row of the objects that are kept.
  for (const name of await readdir(join(dataDir, 'dynamodb'))) await rm(join(dataDir, 'dynamodb', name));
  process.kill(engineOn(dataDir), 'SIGKILL');
  expect(await ended).toEqual([1, null]);
  expect(errors.filter((line) => /database/.test(line))).toEqual([
    'The database (Dynoxide) has ended by itself. It is started again.',
    expect.stringMatching(
      /^The database \(Dynoxide\) has ended: .*dynoxide.db is missing or empty, but .*\/s3 has objects/,
    ),
  ]);
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});

test('npm run try says what to do when no service runs', async () => {
  const env = { ...inherited(), PORT: String(await freePort()) };
  const tried = promisify(execFile)(process.execPath, [join(ROOT, 'infra/local/try.ts')], { env });
  await expect(tried).rejects.toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('"npm start"') });
});

test('npm run try prints no line for the shell with a key that another program on the port has made up', async () => {
  const other = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/form') return response.end('<form method="post" action="/form">');
    if (request.url === '/api/v1/api-keys') return response.end(JSON.stringify({ key: 'x; touch /tmp/made-up' }));
    response.writeHead(302, { location: request.method === 'GET' ? '/form' : '/' }).end();
  });
  await once(other.listen(0, 'localhost'), 'listening');
  onTestFinished(() => void other.close());
  const env = { ...inherited(), PORT: String((other.address() as AddressInfo).port) };
  const tried = promisify(execFile)(process.execPath, [join(ROOT, 'infra/local/try.ts')], { env });
  await expect(tried).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('made no API key'),
  });
});

test('npm run bench gives Node the options that npm start has, so that it measures the same service', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const options = (script: string) => script.split(' ').filter((word) => word.startsWith('--'));
  expect(options(scripts.start)).toEqual(['--max-semi-space-size=8']);
  expect(options(scripts.bench)).toEqual(options(scripts.start));
});

test('npm start says which settings it has, and refuses options', async () => {
  const run = (option: string) => promisify(execFile)(process.execPath, [START, option], { cwd: ROOT });
  const { stdout: help, stderr: none } = await run('--help');
  expect([help, none]).toEqual([expect.stringMatching(/PORT=8787 .*DATA_DIR=.local /s), '']);
  await expect(run('--port=9000')).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `npm start has no option "--port=9000".\n${help}`,
  });
});

test('SIGINT ends npm start even while it is starting', async () => {
  const dataDir = await directory();
  const child = launch({ PORT: '0', DATA_DIR: dataDir });
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  await expect.poll(() => processesOn(dataDir)).toEqual([]);
});

describe('without everything that npm ci installs', () => {
  const FOREIGN = process.platform === 'linux' ? 'darwin' : 'linux';
  const PACKAGES = {
    '': {},
    'node_modules/needed': {},
    'node_modules/needed/node_modules/nested': { dev: true },
    'node_modules/native': { optional: true, os: [process.platform], cpu: [process.arch] },
    'node_modules/foreign': { optional: true, os: [FOREIGN] },
    'node_modules/of-foreign': { optional: true },
  };
  const INSTALL = 'run "npm ci --include=dev --include=optional".\n';

  /** A project with the script of ours, in which only some packages are installed. */
  async function projectWith(installed: readonly string[]): Promise<string> {
    const project = await directory();
    await mkdir(join(project, 'infra'));
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const described = { scripts, devDependencies: { node: '24.0.0' } };
    await writeFile(join(project, 'package.json'), JSON.stringify(described));
    await writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages: PACKAGES }));
    await cp(join(ROOT, 'infra/check-installation.cjs'), join(project, 'infra/check-installation.cjs'));
    for (const name of installed) {
      await mkdir(join(project, 'node_modules', name), { recursive: true });
      await writeFile(join(project, 'node_modules', name, 'package.json'), '{}');
    }
    return project;
  }

  async function run(project: string, command: string, args: readonly string[]) {
    const child = spawn(command, args, { cwd: project, env: inherited(), stdio: ['ignore', 'ignore', 'pipe'] });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { code, stderr };
  }

  const check = ['infra/check-installation.cjs'];
  const ALL = ['needed', 'needed/node_modules/nested', 'native'];

  test.each([
    ['everything', ALL, ''],
    ['no packages', [], `3 packages, such as needed, are not installed: ${INSTALL}`],
    ['no package for development', ['needed', 'native'], `The package nested is not installed: ${INSTALL}`],
    ['no binary package', ALL.slice(0, 2), `The package native is not installed: ${INSTALL}`],
  ])('says what is missing and what to do: %s', async (_, installed, stderr) => {
    const code = stderr === '' ? 0 : 1;
    expect(await run(await projectWith(installed), process.execPath, check)).toEqual({ code, stderr });
  });

  test('says what to do when the Node of the project is missing and that of the machine is old', async () => {
    const project = await projectWith(ALL);
    await writeFile(join(project, 'old.cjs'), 'Object.defineProperty(process, "version", { value: "v20.20.2" })');
    const { code, stderr } = await run(project, process.execPath, ['-r', './old.cjs', ...check]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^Node 20\.20\.2 is too old.* run "npm rebuild node .*or use Node 24 or newer\.\n$/,
      ),
    });
  });

  test.each(['start', 'test'])('npm run %s says so before anything else', async (script) => {
    const { code, stderr } = await run(await projectWith([]), 'npm', ['run', '--silent', script]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(INSTALL) });
  });

  test('every script checks it first', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    for (const script of Object.values(scripts))
      expect(script).toMatch(/^(exec )?node (-r .\/)?infra\/check-installation.cjs /);
  });
});

/** The NODE_OPTIONS that run a script before the program. */
function runningFirst(script: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

/** Makes Node refuse low ports, as many systems do for everyone but root. */
const WITHOUT_LOW_PORTS = runningFirst(`
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, ...rest) {
    if (!(port > 0 && port < 1024)) return listen.call(this, port, ...rest);
    setImmediate(() => this.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' })));
    return this;
  };`);

const WITH_FULL_DISK = runningFirst(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.statfsSync = () => ({ bavail: 1, bsize: 4096 });
  syncBuiltinESMExports();`);

describe('a start fails with one sentence', () => {
  test.each([
    ['a port that is not a number', { PORT: 'http' }, 'PORT must be a whole number from 0 to 65535, not "http".'],
    ['a port beyond the highest', { PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536".'],
    ['a port in another notation', { PORT: '0x50' }, 'PORT must be a whole number from 0 to 65535, not "0x50".'],
    [
      'a port that needs more rights',
      { PORT: '80', NODE_OPTIONS: WITHOUT_LOW_PORTS },
      'Port 80 needs rights that you do not have: set PORT to one from 1024 on.',
    ],
    ['a full disk', { NODE_OPTIONS: WITH_FULL_DISK }, 'The disk of /'],
    [
      'a limit that is not a number',
      { MAX_UPLOAD_SIZE_BYTES: 'many' },
      'MAX_UPLOAD_SIZE_BYTES must be a whole number from 1 to 5242880000, not "many"',
    ],
    [
      'a DATA_DIR that cannot be written',
      { DATA_DIR: '/dev/null/data' },
      'DATA_DIR /dev/null/data cannot be written: ENOTDIR',
    ],
  ])('with %s', async (_name, environment, sentence) => {
    const { code, stderr } = await failedStart({ PORT: '0', DATA_DIR: await directory(), ...environment });
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(new RegExp(`^${sentence.replaceAll(/[.?"()]/g, '\\$&')}[^\n]*$`));
  });

  test('with an engine that does not exist', async () => {
    expect(await failedStart({ PORT: '0', DATA_DIR: await directory(), ENGINE: 'sqlite' })).toEqual({
      code: 1,
      stderr: 'ENGINE must be dynoxide or dynamodb-local, not "sqlite".\n',
    });
  });

  test.each([
    ['without a Java runtime', {}],
    ['on a Mac without a Java runtime', { java: 'echo "Unable to locate a Java Runtime." >&2; exit 1' }],
    ['with an old Java runtime', { java: 'echo "java.lang.UnsupportedClassVersionError" >&2; exit 1' }],
    ['without a Java runtime in JAVA_HOME', { 'home/none': '' }],
  ])('on the second engine %s', async (_, files) => {
    // A PATH with only what a shell script needs.
    const path = await directory();
    for (const command of ['sh', 'cat']) await symlink(`/bin/${command}`, join(path, command));
    for (const [name, script] of Object.entries(files)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    const JAVA_HOME = Object.keys(files).join().startsWith('home') ? join(path, 'home') : '';
    const environment = { PORT: '0', DATA_DIR: await directory(), ENGINE: 'dynamodb-local', PATH: path, JAVA_HOME };
    const { code, stderr } = await failedStart(environment);
    expect(code).toBe(1);
    const where = JAVA_HOME === '' ? 'JAVA_HOME or the PATH' : `JAVA_HOME (now ${JAVA_HOME})`;
    expect(stderr).toBe(`ENGINE=dynamodb-local needs a Java runtime, version 17 or newer, in ${where}.\n`);
  });
});
