import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examples } from '../../dashboard/src/reference/examples.ts';
import { inherited } from '../support/inherited.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let account: TestAccount;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'reference-'));
  await writeFile(join(directory, 'photo.jpg'), 'not much of a photo');
  await writeFile(join(directory, 'film.mp4'), 'not much of a film');
  service = await borrowTestService();
  account = await service.newAccount();
});
afterAll(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

/** Runs shell commands of the page. @returns their output. */
async function run(lines: string, variables: Record<string, string> = {}): Promise<string> {
  const env = { ...inherited(), FILE_HOSTING_KEY: account.key, ...variables };
  return (await promisify(execFile)('bash', ['-c', `set -e\n${lines}`], { cwd: directory, env })).stdout;
}

test('the example commands of the API reference work', async () => {
  const [upload = '', list = '', remove = '', direct = ''] = examples(service.urls.base_url).map(({ code }) => code);
  const photo = JSON.parse(await run(upload));
  expect(JSON.parse(await run(list)).items).toEqual([photo]);
  expect(JSON.parse(await run(remove, { ID: photo.id }))).toEqual({ id: photo.id, deleted: true });

  const [size, ask, , send, complete] = direct.split('\n');
  const ticket = JSON.parse(await run(`${size}\n${ask}`));
  const headers = Object.entries(ticket.upload.headers).map(([name, value]) => `${name}: ${value}`.toLowerCase());
  expect(headers.sort()).toEqual(['content-type: video/mp4', 'if-none-match: *']);
  const film = JSON.parse(await run(`${send}\n${complete}`, { URL: ticket.upload.url, ID: ticket.id }));
  expect(await (await fetch(film.url)).text()).toBe('not much of a film');
});
