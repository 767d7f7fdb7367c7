import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inherited } from '../support/inherited.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'first-upload-'));
  service = await borrowTestService();
  account = await service.newAccount();
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

/** The curl commands in the README's section "First upload". */
async function commands(): Promise<string[]> {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  const section = /## First upload\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  return [...section.matchAll(/^ *(curl .*)$/gm)].map(([, command = '']) => command);
}

async function run(command: string, id = ''): Promise<Record<string, unknown>> {
  const here = command.replaceAll('http://localhost:8787', service.urls.root_url).replaceAll('<id>', id);
  const env = { ...inherited(), FILE_HOSTING_KEY: account.key };
  const { stdout } = await promisify(execFile)('sh', ['-c', here], { cwd: directory, env });
  return JSON.parse(stdout);
}

test("the README's commands upload a file, find it and delete it", async () => {
  await writeFile(join(directory, 'photo.jpg'), 'not much of a photo');
  const [upload = '', list = '', remove = '', ...more] = await commands();
  expect(more).toEqual([]);
  const file = await run(upload);
  expect(file).toMatchObject({ name: 'photo.jpg', mime_type: 'image/jpeg', size_bytes: 19 });
  expect(await run(list)).toMatchObject({ items: [file], total: 1 });
  expect(await run(remove, String(file.id))).toEqual({ id: file.id, deleted: true });
});
