import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockDataDir } from '../../../local-aws/host/data-dir.ts';

const directory = () => mkdtemp(join(tmpdir(), 'data-'));

test('only one instance at a time has the directory, which is created when it is missing', async () => {
  const path = join(await directory(), 'a', 'b');
  const lock = await lockDataDir(path);
  await expect(lockDataDir(path)).rejects.toThrow(
    `DATA_DIR ${path} is in use by another running instance: stop it, or set DATA_DIR to another folder.`,
  );
  lock.close();
  (await lockDataDir(path)).close();
});

test('a path that is not a directory is an error that says so', async () => {
  const path = join(await directory(), 'file');
  await writeFile(path, '');
  await expect(lockDataDir(path)).rejects.toThrow(`DATA_DIR ${path} cannot be written: `);
});

test('a directory that cannot be made is an error that says so', async () => {
  const file = join(await directory(), 'file');
  await writeFile(file, '');
  await expect(lockDataDir(join(file, 'data'))).rejects.toThrow('cannot be written: ');
});
