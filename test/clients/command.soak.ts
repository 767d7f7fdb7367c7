import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inherited } from '../support/inherited.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { COMMAND, commandVariables, openTerminal } from '../support/terminal.ts';
import { startFaultyProxy } from './faulty-proxy.ts';

const MIB = 1024 * 1024;
const run = promisify(execFile);

/** How much more memory the upload of a pipe of 100 MiB may take than that of a pipe of 20 MiB. */
const PIPE_MEMORY_MAX = 64 * MIB;

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService({
    RATE_LIMIT_UPLOADS_PER_MINUTE: '120',
    STORAGE_LIMIT_BYTES: String(130 * MIB),
  });
  folder = await mkdtemp(join(tmpdir(), 'file-hosting-command-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service.close();
});

test('the command uploads a folder of 200 files at the pace of the rate limit, without an error', async () => {
  const account = await service.newAccount();
  await mkdir(join(folder, 'many'));
  for (let at = 0; at < 200; at++) await writeFile(join(folder, 'many', `${at}.txt`), `content ${at}`);
  const variables = commandVariables(account, service.urls.root_url);
  const terminal = openTerminal([process.execPath, COMMAND, 'upload', '-r', 'many'], { env: variables, cwd: folder });
  expect(await terminal.ended).toBe(0);
  expect(terminal.text).toContain('waiting for the rate limit, ');
  expect(terminal.text).toContain('200 files uploaded.');
  expect(terminal.text).not.toMatch(/rate_limit|error:/);
  expect(terminal.text.match(/^http.*$/gm)).toHaveLength(200);
  const { body } = await account.bySession.request('GET', '/auth/me');
  expect(body.file_count).toBe(200);
});

test('without a terminal, the command prints no progress of 0 bytes after a long wait', async ({ onTestFinished }) => {
  const [proxy, account] = [await startFaultyProxy(service.urls.root_url), await service.newAccount()];
  onTestFinished(proxy.close);
  proxy.addFaults('form', { status: 429, headers: { 'retry-after': '16' }, body: '{"error":"rate_limit_exceeded"}' });
  await writeFile(join(folder, 'later.txt'), 'x');
  const env = { ...inherited(), ...commandVariables(account, proxy.url) };
  const child = spawn(process.execPath, [COMMAND, 'upload', 'later.txt'], { env, cwd: folder });
  const stderr = String(Buffer.concat(await child.stderr.toArray()));
  expect(stderr).toMatch(/^waiting for the rate limit, 1\d seconds\nlater\.txt: uploaded, 1 B\n$/);
});

test('the command sends a pipe of 100 MiB with little memory, and says when the account is full', async () => {
  const account = await service.newAccount();
  const env = { ...inherited(), ...commandVariables(account, service.urls.root_url) };
  const send = async (mebibytes: number) => {
    const child = spawn(process.execPath, [COMMAND, 'upload', '-', '--name', 'zeros.bin'], { env });
    child.stdin.on('error', () => {});
    Readable.from(zeros(mebibytes)).pipe(child.stdin);
    let peak = 0;
    const timer = setInterval(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      peak = Math.max(peak, 1_024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    }, 20);
    const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
    clearInterval(timer);
    return { stdout: String(stdout), stderr: String(stderr), peak };
  };
  const [short, long] = [await send(20), await send(100)];
  expect(long.stdout).toMatch(/\/zeros\.bin\n$/);
  if (process.platform === 'linux') expect(short.peak).toBeGreaterThan(10 * MIB);
  expect(long.peak - short.peak).toBeLessThan(PIPE_MEMORY_MAX);
  const { stderr } = await send(100);
  expect(stderr).toMatch(/The account has no room for the file.* \(storage_limit_exceeded, 403\)\./);
});

function* zeros(mebibytes: number): Generator<Buffer> {
  for (let at = 0; at < mebibytes * 16; at++) yield Buffer.alloc(MIB / 16);
}

test('list prints how many files there are in all, and ends without an error when the program that reads its output ends', async () => {
  const account = await service.newAccount();
  for (let at = 0; at < 51; at++) await account.byKey.upload(`${at}.txt`, 'x');
  const env = { ...inherited(), ...commandVariables(account, service.urls.root_url) };
  const newest = await run(process.execPath, [COMMAND, 'list'], { env });
  expect(newest.stdout.trimEnd().split('\n')).toHaveLength(50);
  expect(newest.stderr).toContain('The newest 50 of 51 files. To list all of them: --all');
  const first = await run('sh', ['-c', '"$0" "$1" list --all | head -1', process.execPath, COMMAND], { env });
  expect([first.stdout.split('\n').length, first.stderr]).toEqual([2, '']);
});

test('the package of the command, as it would be published, works', async () => {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: join(COMMAND, '../..') });
  const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('tar', ['xzf', archive], { cwd: folder });
  const installed = join(folder, 'package');
  expect((await readdir(installed)).sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json']);
  await mkdir(join(folder, 'node_modules'));
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const { resolve } = createRequire(COMMAND);
  for (const name of Object.keys(dependencies)) {
    const [at = ''] = resolve(name).split(/(?<=node_modules\/[\w-]+)\//);
    await symlink(at, join(folder, 'node_modules', name));
  }
  const account = await service.newAccount();
  const env = { ...inherited(), ...commandVariables(account, service.urls.root_url) };
  const { stdout } = await run(process.execPath, [join(installed, 'bin/file-hosting.js'), 'me'], { env });
  expect(stdout).toContain('Files      0');
});
