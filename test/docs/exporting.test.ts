import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateFiles } from '../support/generated-files.ts';
import { inherited } from '../support/inherited.ts';
import { operatorOf } from '../support/operator.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'export-'));
  service = await borrowTestService();
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

/** Runs docs/operate.md's script for an account's owner in the directory. */
async function exportAccount({ key }: Pick<TestAccount, 'key'>): Promise<void> {
  const page = await readFile(join(import.meta.dirname, '../../docs/operate.md'), 'utf8');
  const script = /<!-- script: export-account -->\n```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? 'exit 1';
  const env = { ...inherited(), FILE_HOSTING_URL: service.urls.root_url, FILE_HOSTING_KEY: key };
  await promisify(execFile)('sh', ['-c', script], { cwd: directory, env });
}

test('the export script of the guide saves every file of an account, with any name', async () => {
  const account = await service.newAccount();
  const names = ['a.txt', '-rf', 'two words "quoted".txt', '100 % $HOME `x`; naïve 日本.txt', '...', ' # '];
  const uploads = await Promise.all(names.map((name) => account.byKey.upload(name, `content of ${name}`)));
  await (await service.newAccount()).byKey.upload('theirs.txt', 'theirs');
  await exportAccount(account);
  const files = uploads.map(({ body }) => body as { id: string; name: string });
  expect((await readdir(directory)).sort()).toEqual([...files.map(({ id }) => id), 'page-1.json'].sort());
  for (const [index, { id, name }] of files.entries()) {
    expect(await readdir(join(directory, id))).toEqual([name]);
    expect(await readFile(join(directory, id, name), 'utf8')).toBe(`content of ${names[index]}`);
  }
  const saved = JSON.parse(await readFile(join(directory, 'page-1.json'), 'utf8'));
  expect(saved).toMatchObject({ total: names.length });
});

test('the export script of the guide fails with a message when a file cannot be downloaded or the key is wrong', async () => {
  const account = await service.newAccount();
  const operator = operatorOf(service);
  // A row without an object.
  await generateFiles(operator.dynamoDb, service.tables, { accountId: account.id, count: 1 });
  operator.close();
  await expect(exportAccount(account)).rejects.toThrow('404');
  await expect(exportAccount({ key: 'svc_test_wrong' })).rejects.toThrow('401');
});
