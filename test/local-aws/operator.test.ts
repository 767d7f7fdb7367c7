import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorPrincipal, writeOperatorFile } from '../../local-aws/operator.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'operator-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

test('the operator’s access key is new at each start, and only the owner can read its file, even if a killed service left an older file', async () => {
  const path = join(dataDir, 'operator.json');
  await writeFile(path, 'left behind', { mode: 0o644 });
  const operator = operatorPrincipal();
  const file = await writeOperatorFile(dataDir, { operator, endpoint: 'http://127.0.0.1:1', region: 'us-east-1' });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: operator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: operator.secretAccessKey,
  });
  expect(operatorPrincipal().secretAccessKey).not.toBe(operator.secretAccessKey);
  await file.close();
  expect(existsSync(path)).toBe(false);
});
