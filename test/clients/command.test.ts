import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import { localName } from '../../clients/cli/src/get.ts';
import type { FileRecord } from '../../clients/typescript/src/index.ts';
import { inherited } from '../support/inherited.ts';
import { borrowTestService, type TestAccount } from '../support/service.ts';
import { COMMAND, CTRL_C, CTRL_Z, commandVariables, openTerminal, type Terminal } from '../support/terminal.ts';
import { IS_THOROUGH } from '../support/thorough.ts';
import { type FaultyProxy, type Step, startFaultyProxy } from './faulty-proxy.ts';

const MIB = 1024 * 1024;
const PATIENCE = { timeout: 120_000 };

const service = await borrowTestService();
/** The working directory of the commands. */
const folder = await mkdtemp(join(tmpdir(), 'file-hosting-command-'));
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service.close();
});

type Variables = Record<string, string | undefined>;

/** The variables of a command that uses an account. */
const as = (account: Pick<TestAccount, 'key'>, url = service.urls.root_url): Variables =>
  commandVariables(account, url);

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command without a terminal. */
async function run(args: readonly string[], variables: Variables, input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { ...inherited(), XDG_CONFIG_HOME: folder, ...variables };
    const done = (error: unknown, stdout: string, stderr: string) =>
      resolve({ code: (error as { code?: number } | null)?.code ?? 0, stdout, stderr });
    const child = execFile(process.execPath, [COMMAND, ...args], { cwd: folder, env }, done);
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Runs the command in a pseudo-terminal. */
function inTerminal(args: readonly string[], variables: Variables, cols?: number): Terminal {
  const env = { XDG_CONFIG_HOME: folder, ...variables };
  return openTerminal([process.execPath, COMMAND, ...args], { env, cwd: folder, cols });
}

async function put(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return name;
}

/** A proxy in front of the service that changes answers as the test says. */
async function proxyOf({ onTestFinished }: TestContext): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(service.urls.root_url);
  onTestFinished(proxy.close);
  return proxy;
}

/** The storage that an account uses, including tickets; its rows; and the bytes of its objects in the bucket. */
async function leftOf({ id, bySession }: TestAccount): Promise<unknown> {
  await service.invoker.idle();
  const { body } = await bySession.request('GET', '/auth/me');
  // The row of a cancelled ticket stays until the ticket would have ended.
  const rows = (await service.rowsOf(id)).filter(({ state }) => (state as { S: string }).S !== 'cancelled');
  return { used: body.storage_used_bytes, rows, stored: await service.storedBytes(id) };
}

const NOTHING = { used: 0, rows: [], stored: 0 };

/** The percentages that the bar has shown, each once. */
const percentages = ({ text }: Terminal) => [
  ...new Set([...text.matchAll(/(\d+) %/g)].map(([, part]) => Number(part))),
];

/** The uploads that Ctrl-C interrupts: a name, the command, and the step of the upload at which Ctrl-C is typed. */
const INTERRUPTED: readonly (readonly [string, readonly string[], Step])[] = [
  ['a large file', ['upload', 'large.bin'], 'put'],
  ['a small file', ['upload', 'small.bin'], 'form'],
  ['several files', ['upload', 'large.bin', 'small.bin'], 'put'],
];

describe('upload in a terminal', () => {
  test('shows progress that moves, with speed and time left, and then the link', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('put', { bytesPerSecond: 8 * MIB });
    await put('film.bin', Buffer.alloc(24 * MIB));
    const terminal = inTerminal(['upload', 'film.bin'], as(account, proxy.url));
    expect(await terminal.ended).toBe(0);
    const shown = percentages(terminal);
    expect(shown.length).toBeGreaterThan(4);
    expect(shown).toEqual(shown.toSorted((one, other) => one - other));
    expect(terminal.text).toMatch(/\[=+ +\] +\d+ % {2}[\d.]+ MiB of 24\.0 MiB {2}[\d.]+ [KM]iB\/s {2}0:0\d left/);
    expect(terminal.text).toMatch(/\nhttp\S+\/film\.bin\n/);
    const lines = terminal.text.split('\n').filter((line) => line.includes('%'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
  });

  test.for(IS_THOROUGH ? INTERRUPTED : INTERRUPTED.slice(0, 1))(
    'leaves nothing of %s after Ctrl-C',
    async ([, args, step], context) => {
      const [proxy, account] = [await proxyOf(context), await service.newAccount()];
      await put('large.bin', Buffer.alloc(16 * MIB));
      await put('small.bin', Buffer.alloc(3 * MIB));
      proxy.addFaults('put', { bytesPerSecond: MIB });
      proxy.addFaults('form', { bytesPerSecond: MIB / 4 });
      const terminal = inTerminal(args, as(account, proxy.url));
      await proxy.arrival(step);
      await terminal.shows(/[1-9]\d* %/);
      // Type it twice, because a program that npx started gets the signal twice.
      terminal.type(CTRL_C + CTRL_C);
      expect(await terminal.ended).toBe(130);
      expect(terminal.screen).toBe('Cancelling. Press Ctrl-C again to end at once.\nCancelled.\n');
      expect(terminal.text).not.toContain('error');
      expect(await leftOf(account)).toEqual(NOTHING);
    },
  );

  test('ends at once at a second Ctrl-C, while the first one still cleans up', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    await put('large.bin', Buffer.alloc(16 * MIB));
    proxy.addFaults('put', { bytesPerSecond: MIB });
    proxy.addFaults('delete', 'stall');
    const terminal = inTerminal(['upload', 'large.bin'], as(account, proxy.url));
    await proxy.arrival('put');
    terminal.type(CTRL_C);
    await proxy.arrival('delete');
    const typing = setInterval(() => terminal.type(CTRL_C), 100);
    context.onTestFinished(() => clearInterval(typing));
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).not.toContain('Cancelled');
  });

  test('prints the links of the files that are complete when Ctrl-C ends the upload of another', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('put', { bytesPerSecond: MIB });
    await put('first.bin', Buffer.alloc(16 * MIB));
    await put('second.txt', 'x');
    const terminal = inTerminal(['upload', 'first.bin', 'second.txt'], as(account, proxy.url));
    await terminal.shows(/1 of 2 files/);
    expect(terminal.text).not.toContain('/second.txt');
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).toMatch(/\nhttp\S+\/second\.txt\n/);
    expect(await leftOf(account)).toMatchObject({ used: 1, stored: 1 });
  });

  test('leaves nothing of a pipe after Ctrl-C', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('form', { bytesPerSecond: MIB });
    const script = 'trap : INT; (head -c 12000000 /dev/zero; sleep 60) | "$0" "$1" upload - --name dump.bin';
    const env = { XDG_CONFIG_HOME: folder, ...as(account, proxy.url) };
    const terminal = openTerminal(['sh', '-c', script, process.execPath, COMMAND], { env, cwd: folder });
    await proxy.arrival('form');
    await terminal.shows(/[\d.]+ MiB/);
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    await expect.poll(() => leftOf(account)).toEqual(NOTHING);
  });

  test('waits for the rate limit without an error, and says so', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    const refused = { status: 429, headers: { 'retry-after': '2' }, body: '{"error":"rate_limit_exceeded"}' };
    proxy.addFaults('form', refused, refused);
    const names = await Promise.all(['1.txt', '2.txt', '3.txt'].map((name) => put(name, name)));
    const terminal = inTerminal(['upload', ...names], as(account, proxy.url));
    expect(await terminal.ended).toBe(0);
    expect(terminal.text).toContain('waiting for the rate limit, 0:0');
    expect(terminal.text).not.toMatch(/rate_limit|error:/);
    expect(terminal.text).toContain('3 files uploaded.');
  });

  test('writes no escape sequences to a dumb terminal', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('put', { bytesPerSecond: 8 * MIB });
    await put('film.bin', Buffer.alloc(5 * MIB));
    for (const args of [
      ['upload', 'film.bin', 'missing'],
      ['list'],
      ['get', 'film.bin', '-o', 'dumb.bin'],
      ['--help'],
    ]) {
      const terminal = inTerminal(args, { ...as(account, proxy.url), TERM: 'dumb' });
      await terminal.ended;
      expect(terminal.raw).not.toContain('\x1b');
    }
    const asked = inTerminal(['login', '--url', service.urls.root_url], { TERM: 'dumb' });
    await asked.shows(/API key \(it is not shown\): $/);
    asked.type(CTRL_C);
    expect([await asked.ended, asked.raw.includes('\x1b')]).toEqual([130, false]);
  });

  test('shows errors in red, unless NO_COLOR is set', async () => {
    const colours = inTerminal(['upload', 'missing.txt'], as({ key: 'svc_test_x' }));
    const plain = inTerminal(['upload', 'missing.txt'], { ...as({ key: 'svc_test_x' }), NO_COLOR: '1' });
    expect([await colours.ended, await plain.ended]).toEqual([1, 1]);
    expect(colours.text).not.toContain('%');
    expect(colours.raw).toContain('\x1b[31merror:\x1b[39m missing.txt: There is no such file.');
    expect(plain.raw).toContain('error: missing.txt: There is no such file.');
    expect(plain.raw).not.toContain('\x1b[31m');
  });
});

describe('upload without a terminal', () => {
  test('prints only links on standard output, and a line for each file on standard error', async () => {
    const account = await service.newAccount();
    const names = ['with space.txt', `"quotes" and 'more'.txt`, 'smile 😀.txt', '100 % $HOME.txt', '-dash.txt'];
    for (const name of names) await put(name, name);
    const { code, stdout, stderr } = await run(['upload', '--', ...names], as(account));
    expect(code).toBe(0);
    const links = stdout.trimEnd().split('\n');
    const contents = await Promise.all(links.map(async (link) => (await fetch(link)).text()));
    expect(contents.sort()).toEqual(names.toSorted());
    const { body } = await account.byKey.request<{ items: FileRecord[] }>('GET', '/files');
    expect(body.items.map(({ name }) => name).sort()).toEqual(names.toSorted());
    expect(stderr).toContain('[5/5]');
    expect(stderr).toContain('smile 😀.txt: uploaded, ');
    expect(stdout + stderr).not.toContain('\x1b');
  });

  test('prints the links in the order of the arguments, whichever upload is complete first', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('put', { bytesPerSecond: 4 * MIB });
    await put('slow.bin', Buffer.alloc(8 * MIB));
    await put('fast.txt', 'x');
    const args = ['upload', 'slow.bin', 'missing.txt', 'fast.txt'];
    const { stdout, stderr } = await run(args, as(account, proxy.url));
    expect(stdout).toMatch(/^http\S+\/slow\.bin\nhttp\S+\/fast\.txt\n$/);
    expect(stderr).toMatch(/fast\.txt: uploaded.*slow\.bin: uploaded/s);
  });

  test('uploads the files of a folder and of its subfolders, and prints a line of JSON for each file', async () => {
    const account = await service.newAccount();
    await mkdir(join(folder, 'tree/deep/empty'), { recursive: true });
    await put('tree/a.txt', 'a');
    await put('tree/deep/b.txt', 'b');
    const { code, stdout } = await run(['upload', '--recursive', '--json', 'tree'], as(account));
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line): FileRecord & { path: string } => JSON.parse(line));
    expect(code).toBe(0);
    expect(records.map(({ path, name, size_bytes }) => [path, name, size_bytes]).sort()).toEqual([
      ['tree/a.txt', 'a.txt', 1],
      ['tree/deep/b.txt', 'b.txt', 1],
    ]);
  });

  test('uploads no file outside of the folder, wherever the links in the folder lead', async () => {
    const account = await service.newAccount();
    await mkdir(join(folder, 'foreign'));
    await put('foreign/a.txt', 'a');
    await put('secret.txt', 'secret');
    await symlink('a.txt', join(folder, 'foreign/inside.txt'));
    await symlink('../secret.txt', join(folder, 'foreign/logo.png'));
    await symlink('nowhere', join(folder, 'foreign/nothing.txt'));
    const { code, stdout, stderr } = await run(['upload', '--recursive', 'foreign'], as(account));
    expect(code).toBe(1);
    expect(stdout.match(/[^/\n]+$/gm)?.sort()).toEqual(['a.txt', 'inside.txt']);
    expect(stderr).toContain('error: foreign/logo.png: It is a link to a file elsewhere.');
    expect(stderr).toContain('error: foreign/nothing.txt: There is no such file.');
    expect(stderr).toContain('2 files uploaded, 2 not.');
  });

  test('leaves out what nobody means to upload with a folder, and names it, unless it is asked for', async () => {
    const account = await service.newAccount();
    const kept = ['.well-known', 'a.txt', 'b/.env.example', 'b/environment'];
    const leftOut = [
      '.git/config',
      '.DS_Store',
      'b/.env.local',
      'b/NODE_MODULES/x.js',
      'b/._a.txt',
      'b/Thumbs.db',
      '.ssh/id',
    ];
    for (const path of [...kept, ...leftOut]) {
      await mkdir(join(folder, 'project', dirname(path)), { recursive: true });
      await put(join('project', path), path);
    }
    const pathsIn = (stdout: string) => [...stdout.matchAll(/\tproject\/(.*)$/gm)].map(([, path]) => path).sort();
    const usual = await run(['upload', '-r', 'project'], as(account));
    expect([usual.code, pathsIn(usual.stdout)]).toEqual([0, kept.toSorted()]);
    expect([...usual.stderr.matchAll(/^left out: project\/(.*)$/gm)].map(([, path]) => path).sort()).toEqual(
      ['.git', '.DS_Store', 'b/.env.local', 'b/NODE_MODULES', 'b/._a.txt', 'b/Thumbs.db', '.ssh'].sort(),
    );
    const all = await run(['upload', '-r', '--all', 'project'], as(account));
    expect(pathsIn(all.stdout)).toEqual([...kept, ...leftOut].sort());
    const named = await run(['upload', '-r', 'project/.git', 'project/.DS_Store'], as(account));
    expect(named.stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test('sends the type and the idempotency key that are given, and prints links that save', async () => {
    const account = await service.newAccount();
    await put('page.txt', '<p>');
    const args = ['upload', 'page.txt', '--type', 'text/html', '--idempotency-key', 'mine', '--json', '--download'];
    const [first, again] = [await run(args, as(account)), await run(args, as(account))];
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout));
    const { mime_type, url } = JSON.parse(first.stdout);
    expect(mime_type).toBe('text/html');
    expect((await fetch(url)).headers.get('Content-Disposition')).toMatch(/^attachment; filename="page\.txt"/);
  });

  test.skipIf(process.platform !== 'linux')('uploads files whose names are not UTF-8', async () => {
    const account = await service.newAccount();
    await mkdir(join(folder, 'latin'));
    await writeFile(Buffer.from(`${folder}/latin/caf\xe9.txt`, 'latin1'), 'coffee');
    const script = '"$0" "$1" upload latin/caf*; "$0" "$1" upload -r latin';
    const { stdout } = await promisify(execFile)('sh', ['-c', script, process.execPath, COMMAND], {
      env: { ...inherited(), ...as(account) },
      cwd: folder,
    });
    const links = stdout.trimEnd().split('\n');
    expect(links[1]).toContain('\tlatin/caf\u{fffd}.txt');
    for (const link of links) expect(await (await fetch(link.split('\t')[0] ?? '')).text()).toBe('coffee');
  });

  test('reads a pipe', async () => {
    const account = await service.newAccount();
    const named = await run(['upload', '-', '--name', 'notes.txt'], as(account), 'from a pipe');
    const unnamed = await run(['upload', '-'], as(account), '');
    expect([named.code, unnamed.code]).toEqual([0, 0]);
    expect(await (await fetch(named.stdout.trim())).text()).toBe('from a pipe');
    const { body } = await account.byKey.request<{ items: FileRecord[] }>('GET', '/files');
    expect(body.items.map(({ name, size_bytes }) => [name, size_bytes])).toEqual([
      ['stdin', 0],
      ['notes.txt', 11],
    ]);
  });

  test.skipIf(process.platform !== 'linux')(
    'stores the whole of content whose size is unknown, or is not what the system says',
    async () => {
      const account = await service.newAccount();
      await mkdir(join(folder, 'lies'));
      await symlink('/proc/version', Buffer.from(`${folder}/lies/caf\xe9.txt`, 'latin1'));
      for (const [name, source, script] of [
        ['of 0 bytes', '/proc/version', 'upload /proc/version'],
        ['of 0 bytes, with a name that is not UTF-8', '/proc/version', 'upload lies/caf*'],
        ['of too many bytes', '/sys/kernel/fscaps', 'upload /sys/kernel/fscaps'],
        ['of standard input', '/proc/version', 'upload - < /proc/version'],
        ['of a pipe', '/proc/version', 'upload <(cat /proc/version)'],
      ] as const) {
        const command = `"$0" "$1" ${script}`;
        const { stdout } = await promisify(execFile)('bash', ['-c', command, process.execPath, COMMAND], {
          env: { ...inherited(), ...as(account) },
          cwd: folder,
        });
        expect(await (await fetch(stdout.trim())).text(), name).toBe(await readFile(source, 'utf8'));
      }
    },
  );

  test('stores nothing of a file that grows while it is sent, or of a folder on standard input', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    proxy.addFaults('put', { bytesPerSecond: 8 * MIB });
    await put('grows.log', Buffer.alloc(16 * MIB));
    const outcome = run(['upload', 'grows.log'], as(account, proxy.url));
    await proxy.arrival('put');
    await appendFile(join(folder, 'grows.log'), 'more');
    expect(await outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('changed meanwhile (unreadable)') });
    const script = '"$0" "$1" upload - < /';
    const env = { ...inherited(), ...as(account) };
    const ofFolder = promisify(execFile)('sh', ['-c', script, process.execPath, COMMAND], { env });
    await expect(ofFolder).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('It is a folder') });
    expect(await leftOf(account)).toEqual(NOTHING);
  });

  test('copies the links with the clipboard program of the desktop', async () => {
    const account = await service.newAccount();
    await put('copied.txt', 'x');
    const programs = await fakePrograms({ xclip: 'cat > clipboard.txt' });
    const { code, stdout, stderr } = await run(['upload', '--copy', 'copied.txt'], { ...as(account), ...programs });
    expect([code, stderr]).toEqual([0, expect.stringContaining('The link is in the clipboard.')]);
    expect(await readFile(join(folder, 'clipboard.txt'), 'utf8')).toBe(stdout.trim());
  });

  test('prints one error and the names of the files, and waits for no rate limit, when the account is full', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    // Four uploads are on their way when three of them are told to wait, and then the fourth is refused.
    let answered = 0;
    const after = async () => {
      await vi.waitUntil(() => proxy.requests.length === 4, PATIENCE);
      answered++;
    };
    const held = { status: 429, headers: { 'retry-after': '500' }, body: '{"error":"rate_limit_exceeded"}', after };
    const full = {
      status: 403,
      body: '{"error":"storage_limit_exceeded"}',
      after: () => vi.waitUntil(() => answered === 3, PATIENCE),
    };
    const names = await Promise.all(Array.from({ length: 9 }, (_, at) => put(`${at}.txt`, 'x')));
    proxy.addFaults('form', held, held, held, full);
    const { code, stderr } = await run(['upload', ...names], as(account, proxy.url));
    expect(code).toBe(1);
    expect(stderr.slice(stderr.indexOf('error:'))).toBe(
      `error: The account has no room for the file (storage_limit_exceeded, 403).
  Delete files that are not needed any more: file-hosting list, then file-hosting rm <id>.
${names.map((name) => `not uploaded: ${name}\n`).join('')}0 files uploaded, 9 not.
`,
    );
    expect(proxy.requests).toHaveLength(4);
  });
});

/** Writes shell scripts that replace programs. @returns a PATH that finds the scripts first. */
async function fakePrograms(scripts: Record<string, string>): Promise<Variables> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  return { PATH: `${bin}${delimiter}${process.env.PATH}` };
}

/** A module that stops the command as soon as its first question is written. */
const STOPPING = `
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  stderr.write = (text) => {
    write(text);
    if (!text.startsWith('API key')) return true;
    stderr.write = write;
    process.kill(process.pid, 'SIGSTOP');
    return true;
  };`;

describe('the API key', () => {
  test('is asked for by login, is not shown, and is stored for this user alone', async () => {
    const { key } = await service.newAccount();
    const home = await mkdtemp(join(folder, 'home-'));
    const variables = { XDG_CONFIG_HOME: home };
    const terminal = inTerminal(['login'], variables);
    await terminal.shows(/Address of the service: $/);
    terminal.type(`${service.urls.root_url}/dashboard/api-keys\r`);
    await terminal.shows(/API key \(it is not shown\): $/);
    // No shell could continue the command here, so Ctrl-Z does nothing.
    terminal.type(`${CTRL_Z}${key}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text).not.toContain(key);
    const settings = join(home, 'file-hosting/settings.json');
    expect(terminal.text.replaceAll('\n', '')).toContain(settings);
    expect((await stat(settings)).mode & 0o777).toBe(0o600);
    expect(await run(['me'], variables)).toMatchObject({ code: 0, stdout: expect.stringContaining(key.slice(0, 12)) });
    expect((await run(['me'], { ...variables, FILE_HOSTING_KEY: 'svc_test_other' })).stderr).toContain('unauthorized');
    const elsewhere = await run(['me'], { ...variables, FILE_HOSTING_URL: 'http://localhost:1' });
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('no API key for http://localhost:1') });
  });

  test('is not shown when standard error is redirected to a file', async () => {
    const command = '"$NODE" "$COMMAND" login --url "$URL" 2>errors.txt';
    const variables = { NODE: process.execPath, COMMAND, URL: service.urls.root_url, XDG_CONFIG_HOME: folder };
    const terminal = openTerminal(['sh', '-c', command], { cwd: folder, env: variables });
    await expect.poll(() => readFile(join(folder, 'errors.txt'), 'utf8')).toContain('API key');
    terminal.type('svc_test_typed\r');
    expect(await terminal.ended).toBe(1);
    expect(terminal.text).not.toContain('svc_test_typed');
  });

  test('is not sent without encryption to another machine', async () => {
    const url = 'http://files.invalid';
    const refused = { code: 2, stderr: expect.stringContaining(`${url} is not encrypted`) };
    expect(await run(['me'], as({ key: 'svc_test_any' }, url))).toMatchObject(refused);
    expect(await run(['login', '--url', url], {}, 'svc_test_any\n')).toMatchObject(refused);
  });

  test('is not stored when the service refuses the key', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    const flags = ['login', '--url', service.urls.root_url];
    const outcome = await run(flags, { XDG_CONFIG_HOME: home }, 'svc_test_wrong\n');
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not valid: .*key.* \(unauthorized, 401\)/),
    });
    await expect(stat(join(home, 'file-hosting'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is not stored when Ctrl-C ends the question for the key', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    const terminal = inTerminal(['login', '--url', service.urls.root_url], { XDG_CONFIG_HOME: home });
    await terminal.shows(/API key \(it is not shown\): $/);
    terminal.type(`svc_test_typed${CTRL_C}`);
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).not.toContain('svc_test_typed');
    await expect(stat(join(home, 'file-hosting'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.for([
    ['in Bash', ['bash', '--norc', '--noprofile', '-i'], '"$NODE" "$COMMAND"', CTRL_Z],
    ['in a shell that leaves the terminal as it is', ['sh', '-i'], '"$NODE" "$COMMAND"', CTRL_Z],
    ['by npx', ['bash', '--norc', '--noprofile', '-i'], 'npx --no -- file-hosting', CTRL_Z],
    ['at the moment of the question', ['bash', '--norc', '--noprofile', '-i'], '"$NODE" $STOPPING "$COMMAND"', ''],
  ] as const)(
    'is asked for again, and not shown, after the command was stopped %s',
    async ([, shell, command, key]) => {
      const secret = (await service.newAccount()).key;
      const home = await mkdtemp(join(folder, 'home-'));
      const env = {
        NODE: process.execPath,
        STOPPING: `--import=data:text/javascript,${encodeURIComponent(STOPPING)}`,
        COMMAND,
        URL: service.urls.root_url,
        XDG_CONFIG_HOME: home,
        PS1: 'shell> ',
      };
      const terminal = openTerminal([...shell], { env, cwd: join(COMMAND, '../../../..') });
      await terminal.shows(/shell> $/);
      terminal.type(`sh -c 'exec ${command} login --url "$URL"'\r`);
      if (key) {
        await terminal.shows(/API key \(it is not shown\): $/);
        terminal.type(`svc_test_half${key}`);
      }
      await terminal.shows(/Stopped.*shell> $/s);
      terminal.type('stty -a\r');
      await terminal.shows(/ echo .*shell> $/s);
      expect(terminal.text).toMatch(/[^-]isig icanon/);
      terminal.type('fg\r');
      await terminal.shows(/> fg\n.*API key \(it is not shown\): $/s);
      terminal.type(`${secret}\r`);
      await terminal.shows(/Logged in\..*shell> $/s);
      terminal.type('exit\r');
      await terminal.ended;
      expect(terminal.text).not.toContain(secret);
      expect(JSON.parse(await readFile(join(home, 'file-hosting/settings.json'), 'utf8')).key).toBe(secret);
    },
  );

  test('is reported as missing, with advice, when there is none', async () => {
    const { code, stdout, stderr } = await run(['upload', 'a'], { XDG_CONFIG_HOME: '/none' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Run: file-hosting login');
    const withUrl = await run(['list'], { XDG_CONFIG_HOME: '/none', FILE_HOSTING_URL: service.urls.root_url });
    expect(withUrl.stderr).toBe(
      `error: There is no API key for ${service.urls.root_url}.\n  Run: file-hosting login (or set FILE_HOSTING_KEY)\n`,
    );
  });

  test.for([
    ['has no home directory', { HOME: '', XDG_CONFIG_HOME: '' }, 'This user has no home directory'],
    ['cannot write there', { HOME: '/dev/null', XDG_CONFIG_HOME: '' }, 'The key cannot be stored'],
    ['cannot make the folder of settings', { XDG_CONFIG_HOME: '/dev/null/none' }, 'The key cannot be stored'],
  ] as const)('a user who %s is told which variables to set', async ([, variables, message]) => {
    const account = await service.newAccount();
    const { code, stderr } = await run(['login', '--url', service.urls.root_url], variables, account.key);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(`${message}.*\\n.*FILE_HOSTING_URL and FILE_HOSTING_KEY`),
    ]);
    expect(await run(['me'], { ...variables, ...as(account) })).toMatchObject({ code: 0 });
  });

  test('a wrong key ends `upload` with one error, and with advice about where the key came from', async () => {
    const names = await Promise.all(['w1.txt', 'w2.txt'].map((name) => put(name, 'x')));
    const { code, stderr } = await run(['upload', ...names], as({ key: 'svc_test_wrong' }));
    expect(code).toBe(1);
    expect(stderr.match(/error: /g)).toHaveLength(1);
    expect(stderr).toContain('The key is from the variable FILE_HOSTING_KEY. Create another in the dashboard');
    expect(stderr).not.toContain('file-hosting login');
    const home = await mkdtemp(join(folder, 'home-'));
    await mkdir(join(home, 'file-hosting'));
    const stored = JSON.stringify({ url: service.urls.root_url, key: 'svc_test_wrong' });
    await writeFile(join(home, 'file-hosting/settings.json'), stored);
    const byLogin = await run(['upload', ...names], { XDG_CONFIG_HOME: home });
    expect(byLogin.stderr).toContain('Create an API key in the dashboard, then run: file-hosting login');
  });

  test('is refused by login with advice about the key that was given, whatever is in FILE_HOSTING_KEY', async () => {
    const flags = ['login', '--url', service.urls.root_url];
    const { stderr } = await run(flags, { FILE_HOSTING_KEY: 'svc_test_any' }, 'svc_test_wrong\n');
    expect(stderr).toContain('then run file-hosting login again, and paste it');
    expect(stderr).not.toContain('FILE_HOSTING_KEY');
  });

  test('a command ends at once when the address answers with a page of HTML', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Welcome' };
    proxy.addFaults('other', page, page);
    const { code, stderr } = await run(['me'], as(account, proxy.url));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: This address does not answer as the service \(invalid_response, 200\)\.\n {2}Check/,
      ),
    ]);
    expect(proxy.requests).toHaveLength(1);
  });

  test('a command ends with the cause and advice when the service cannot be reached', async () => {
    const proxy = await startFaultyProxy(service.urls.root_url);
    await proxy.close();
    const { code, stderr } = await run(['login', '--url', proxy.url], {}, 'svc_test_x\n');
    expect(stderr).toContain('ECONNREFUSED');
    expect(code).toBe(1);
    expect(stderr).toContain('Check the connection, and the address of the service');
  });
});

describe('list, open and rm', () => {
  test('list prints files for programs, and as columns in a terminal', async () => {
    const account = await service.newAccount();
    for (const name of ['first.txt', 'other.md', 'third.txt']) await account.byKey.upload(name, name);
    const found = await run(['list', '--search', 'TXT'], as(account));
    expect(found.stdout.split('\n').map((line) => line.split('\t').at(-1))).toEqual(['third.txt', 'first.txt', '']);
    const json = await run(['list', '--all', '--json'], as(account));
    expect(
      json.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).name),
    ).toHaveLength(3);
    const terminal = inTerminal(['list', '--limit', '1'], as(account));
    await terminal.ended;
    expect(terminal.text).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d {8}9 B {2}[\da-f-]{36} {2}third\.txt\n {2}http\S+\/third\.txt\nThe newest 1 of 3/,
    );
    const links = (await run(['list', '--limit', '2', '--download'], as(account))).stdout;
    expect(links.match(/\/\w+\.\w+\?download\t/g)).toEqual(['/third.txt?download\t', '/other.md?download\t']);
  });

  test('a file is found by every spelling of its name that looks the same, and by every form of its link', async () => {
    const account = await service.newAccount();
    const names = ['caf\u00e9.txt', 'Screenshot 9.41\u202fAM.png', 'note: a.txt', '100%.txt'];
    const files = await Promise.all(names.map(async (name) => (await account.byKey.upload(name, name)).body));
    const [{ url = '', id = '' } = {}] = files as unknown as FileRecord[];
    const spellings: readonly (readonly [string, string | undefined])[] = [
      ['cafe\u0301.txt', names[0]],
      ['Screenshot 9.41 AM.png', names[1]],
      ['note: a.txt', names[2]],
      ['100%.txt', names[3]],
      [`${url}?download`, names[0]],
      [`${url}#page=2`, names[0]],
      [url.replace(/[^/]*$/, 'other.txt'), names[0]],
      [url.replace(/\/[^/]*$/, ''), names[0]],
      [id.toUpperCase(), names[0]],
    ];
    for (const [what, content] of spellings)
      expect(await run(['get', what, '-o', '-'], as(account)), what).toMatchObject({ code: 0, stdout: content });
    const removed = await run(
      ['rm', '--yes', 'cafe\u0301.txt', `${url}?download`, 'none.txt', 'note: a.txt'],
      as(account),
    );
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('error: none.txt: There is no file') });
    const left = (await run(['list'], as(account))).stdout.trimEnd().split('\n');
    expect(left.map((line) => line.split('\t').at(-1)).sort()).toEqual([names[3], names[1]]);
  });

  test('open opens the link of a file in the browser', async () => {
    const account = await service.newAccount();
    const { body } = await account.byKey.upload('caf\u00e9 & "more".html', '<p>');
    const programs = await fakePrograms({ 'xdg-open': 'printf %s "$1" > opened.txt' });
    for (const which of [body.id, body.url, body.name, String(body.name).normalize('NFD')]) {
      const { code, stdout } = await run(['open', String(which)], { ...as(account), ...programs });
      expect([code, stdout]).toEqual([0, `${body.url}\n`]);
      expect(await readFile(join(folder, 'opened.txt'), 'utf8')).toBe(body.url);
    }
  });

  test('open refuses a link that is not http(s), and no command prints characters that control the terminal', async (context) => {
    const proxy = await proxyOf(context);
    const account = await service.newAccount();
    const id = '01a20458-90c6-7de2-99f0-06a159293a04';
    const record = {
      id,
      name: 'a\u009b31m\u061c',
      size_bytes: 1,
      url: 'file:///etc/\u009b',
      created_at: '2026-11-22T09:00Z',
    };
    proxy.addFaults('other', { status: 200, body: JSON.stringify(record) });
    const programs = await fakePrograms({ 'xdg-open': 'touch was-opened.txt' });
    const opened = await run(['open', id], { ...as(account, proxy.url), ...programs });
    expect(opened).toMatchObject({ code: 1, stdout: 'file:///etc/\u{fffd}\n' });
    await expect(stat(join(folder, 'was-opened.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
    const page = { status: 200, body: JSON.stringify({ items: [record], total: 1, page: 1, limit: 50 }) };
    proxy.addFaults('other', page, page);
    const json = await run(['list', '--json'], as(account, proxy.url));
    expect(json.stdout).toContain('a\\u009b31m\\u061c');
    expect(JSON.parse(json.stdout)).toEqual(record);
    expect((await run(['list'], as(account, proxy.url))).stdout).toMatch(/\ta\u{fffd}31m\u{fffd}\n$/u);
  });

  test('rm asks before it deletes', async () => {
    const account = await service.newAccount();
    const [{ body }] = [await account.byKey.upload('old.txt', 'x')];
    for (const [answer, code] of [
      ['n\r', 1],
      ['\r', 1],
      ['y\r', 0],
    ] as const) {
      const terminal = inTerminal(['rm', String(body.id)], as(account));
      await terminal.shows(/old\.txt\nDelete it\? \[y\/N\] $/);
      terminal.type(answer);
      expect(await terminal.ended).toBe(code);
    }
    expect((await account.byKey.request('GET', `/files/${body.id}`)).status).toBe(404);
  });

  test('rm without a terminal needs --yes, and a name that only one file has', async () => {
    const account = await service.newAccount();
    for (const name of ['one.txt', 'two.txt', 'two.txt']) await account.byKey.upload(name, 'x');
    expect(await run(['rm', 'one.txt'], as(account))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes'),
    });
    expect((await run(['rm', '--yes', 'one.txt'], as(account))).stderr).toBe('Deleted one.txt.\n');
    const several = await run(['rm', '--yes', 'two.txt'], as(account));
    expect(several).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/2 files are called two\.txt.\n {2}Give the id/),
    });
    expect(await run(['rm', '--yes', 'none.txt'], as(account))).toMatchObject({ code: 1 });
  });
});

/**
 * A proxy of the CDN that closes the connections of the first downloads after some bytes; after 0 bytes it keeps the connection.
 * @param arrived  how many bytes the command has written. The connection is closed after that, because `fetch` may drop what came last.
 */
async function flakyLink(link: string, cuts: number[], arrived: () => number | Promise<number>) {
  const requests: string[] = [];
  const server = createServer(async ({ method, url, headers }, response) => {
    const { range = '', 'if-range': ifRange = '' } = headers;
    requests.push([method, range, ifRange && 'if-range'].filter(Boolean).join(' '));
    const own = {
      ...(range && { range }),
      ...(ifRange && { 'if-range': String(ifRange) }),
      'accept-encoding': 'identity',
    };
    const answer = await fetch(new URL(url ?? '', link), { method: method ?? 'GET', headers: own });
    const content = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    const cut = method === 'GET' ? cuts.shift() : undefined;
    if (cut === undefined) response.end(content);
    else if (cut === 0) response.flushHeaders();
    else {
      response.write(content.subarray(0, cut));
      const end = Number(/\d+/.exec(range) ?? 0) + cut;
      await vi.waitUntil(async () => (await arrived()) >= end, PATIENCE);
      response.destroy();
    }
  });
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { requests, url: link.replace(/^http:\/\/[^/]+/, `http://127.0.0.1:${port}`) };
}

/** The size of the file in a folder that a download has begun. */
async function partSize(home: string): Promise<number> {
  const [name] = (await readdir(home)).filter((one) => one.endsWith('.part'));
  return name ? (await stat(join(home, name))).size : 0;
}

describe('get', () => {
  test('saves files under their names, and replaces none that exists, unless it is asked to', async () => {
    const account = await service.newAccount();
    const home = await mkdtemp(join(folder, 'get-'));
    for (const name of ['one.txt', 'two.txt']) await account.byKey.upload(name, name);
    expect(await run(['get', 'one.txt', 'two.txt', '-o', home], as(account))).toMatchObject({
      code: 0,
      stdout: `${home}/one.txt\n${home}/two.txt\n`,
    });
    await writeFile(join(home, 'one.txt'), 'mine');
    const refused = await run(['get', 'one.txt', '-o', home], as(account));
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/one\.txt exists already.*\n.*--force/),
    });
    expect(await readFile(join(home, 'one.txt'), 'utf8')).toBe('mine');
    await run(['get', 'one.txt', '-o', join(home, 'one.txt'), '--force'], as(account));
    expect(await readFile(join(home, 'one.txt'), 'utf8')).toBe('one.txt');
    expect((await readdir(home)).sort()).toEqual(['one.txt', 'two.txt']);
    expect(await run(['get', 'one.txt', 'two.txt', '-o', 'x'], as(account))).toMatchObject({ code: 2 });
    expect(await run(['get', 'none.txt', 'one.txt', '-o', '-'], as(account))).toMatchObject({
      code: 1,
      stdout: 'one.txt',
    });
  });

  test.for([
    ['../../etc/passwd', '__.._etc_passwd'],
    ['..', '_'],
    ['', '_'],
    ['.bashrc', '_bashrc'],
    ['a\\b/c.txt', 'a_b_c.txt'],
    ['a\n\u202eb', 'a__b'],
    ['NUL.txt', '_NUL.txt'],
    ['smile 😀.txt', 'smile 😀.txt'],
  ] as const)('a name from the service is no path: %j', ([name, saved]) => {
    expect(localName(name)).toBe(saved);
  });

  test('continues after lost connections, into a file and to standard output', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const { body } = await account.byKey.upload('large.bin', content);
    const home = await mkdtemp(join(folder, 'get-'));
    for (const output of [join(home, 'large.bin'), '-']) {
      let printed = Buffer.alloc(0);
      const arrived = () => (output === '-' ? printed.length : partSize(home));
      const link = await flakyLink(String(body.url), [100_000, 50_000], arrived);
      proxy.addFaults('other', { status: 200, body: JSON.stringify({ ...body, url: link.url }) });
      const env = { ...inherited(), ...as(account, proxy.url) };
      const child = spawn(process.execPath, [COMMAND, 'get', String(body.id), '-o', output], { env });
      child.stdout.on('data', (chunk: Buffer) => {
        printed = Buffer.concat([printed, chunk]);
      });
      expect(await once(child, 'close')).toEqual([0, null]);
      expect((output === '-' ? printed : await readFile(output)).equals(content)).toBe(true);
      expect(link.requests).toEqual(['GET bytes=0-', 'GET bytes=100000- if-range', 'GET bytes=150000- if-range']);
    }
    expect(await readdir(home)).toEqual(['large.bin']);
  });

  test('continues what an interrupted command has begun', async (context) => {
    const [proxy, account] = [await proxyOf(context), await service.newAccount()];
    const content = Buffer.alloc(300_000, 'The quick brown fox. ');
    const { body } = await account.byKey.upload('large.bin', content);
    const home = await mkdtemp(join(folder, 'get-'));
    const link = await flakyLink(String(body.url), [100_000, 0], () => partSize(home));
    const record = { status: 200, body: JSON.stringify({ ...body, url: link.url }) };
    proxy.addFaults('other', record, record);
    const args = ['get', String(body.id), '-o', join(home, 'large.bin')];
    const terminal = inTerminal(args, as(account, proxy.url));
    await terminal.shows(/33 %/);
    await expect.poll(() => link.requests.length).toBe(2);
    terminal.type(CTRL_C);
    expect(await terminal.ended).toBe(130);
    expect(terminal.screen.replaceAll('\n', ' ')).toMatch(
      /^Cancelling\..* 97\.7 KiB are in .*\. The same command continues\. Cancelled\. $/,
    );
    expect(await readdir(home)).toEqual([expect.stringMatching(/\.part$/)]);
    await run(args, as(account, proxy.url));
    expect((await readFile(join(home, 'large.bin'))).equals(content)).toBe(true);
    expect(link.requests.at(-1)).toBe('GET bytes=100000- if-range');
    expect(await readdir(home)).toEqual(['large.bin']);
  });
});

const WRONG_CALLS: readonly (readonly [string, readonly string[]])[] = [
  ['an unknown command', ['uplaod']],
  ['a folder without --recursive', ['upload', '.']],
  ['no command', []],
  ['a limit that is no number', ['list', '--limit', 'all']],
  ['a limit for all files', ['list', '--limit', '5', '--all']],
  ['a type that is none', ['upload', '--type', 'png', COMMAND]],
  ['an idempotency key for several files', ['upload', '--idempotency-key', 'x', COMMAND, COMMAND]],
  ['an unknown flag', ['list', '--everything']],
  ['no file', ['upload']],
  ['a name for several files', ['upload', '--name', 'x', COMMAND, COMMAND]],
  ['standard input twice', ['upload', '-', '-']],
  ['an empty name', ['upload', '--name', '', COMMAND]],
  ['an address without https://', ['login', '--url', 'files.example.com']],
  ['an unknown shell', ['completion', 'tcsh']],
];

describe('a wrong command line', () => {
  test.for(IS_THOROUGH ? WRONG_CALLS : WRONG_CALLS.slice(0, 3))(
    'a command line with %s ends with 2 and says what is wrong',
    async ([, args]) => {
      const { code, stdout, stderr } = await run(args, as({ key: 'svc_test_x' }));
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/error: |Usage: /);
    },
  );
});

test.skipIf(!existsSync('/dev/full'))('the command fails when its output cannot be written', async () => {
  const script = '"$0" "$1" completion bash > /dev/full';
  const outcome = await new Promise((resolve) =>
    execFile('sh', ['-c', script, process.execPath, COMMAND], { env: inherited() }, (error, _, stderr) =>
      resolve([error?.code, stderr]),
    ),
  );
  expect(outcome).toEqual([1, expect.stringContaining('error: Cannot write to standard output: ENOSPC')]);
});

test.for([40, 60, 80])('the help of every command has examples, and breaks no word at %i columns', async (columns) => {
  for (const command of ['', 'login', 'upload', 'list', 'get', 'open', 'rm', 'me', 'completion']) {
    const terminal = inTerminal([...(command === '' ? [] : [command]), '--help'], {}, columns);
    expect(await terminal.ended).toBe(0);
    const [told = '', examples] = terminal.text.split('\nExamples:\n');
    expect(examples, command).toMatch(/^ {2}.*file-hosting /);
    // A terminal breaks longer lines anywhere.
    const tooLong = told.split('\n').filter((line) => line.length > columns && !line.startsWith('Usage: '));
    expect(tooLong, command).toEqual([]);
  }
});

test('npx runs the command from the root of the repository', async () => {
  const printed = await new Promise((resolve) =>
    execFile('npx', ['--no', '--', 'file-hosting', '--help'], { cwd: join(COMMAND, '../../../..') }, (_, out) =>
      resolve(out),
    ),
  );
  expect(printed).toContain('Usage: file-hosting ');
});

describe('completion', () => {
  test('completes commands and flags in Bash', async () => {
    const { stdout } = await run(['completion', 'bash'], {});
    const ask = `COMP_WORDS=(file-hosting upload --re); COMP_CWORD=2; _file_hosting; echo "\${COMPREPLY[*]}"
      COMP_WORDS=(file-hosting u); COMP_CWORD=1; _file_hosting; echo "\${COMPREPLY[*]}"
      COMP_WORDS=(file-hosting ls --a); COMP_CWORD=2; _file_hosting; echo "\${COMPREPLY[*]}"`;
    const completed = await new Promise((resolve) => execFile('bash', ['-c', stdout + ask], (_, out) => resolve(out)));
    expect(completed).toBe('--recursive\nupload\n--all\n');
  });

  test.for(['zsh', 'fish'])('has every command and flag for %s', async (shell) => {
    const { stdout } = await run(['completion', shell], {});
    for (const word of ['login', 'upload', 'list', 'get', 'open', 'rm', 'me', 'recursive', 'copy', 'search', 'yes'])
      expect(stdout).toContain(word);
    // In a shell without compinit, the script of zsh loads it first.
    if (shell === 'zsh') expect(stdout).toMatch(/functions\[compdef\].*compinit.*\ncompdef /s);
  });
});
