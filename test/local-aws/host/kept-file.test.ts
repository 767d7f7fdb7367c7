import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { choosePorts } from '../../../local-aws/host/ports.ts';
import { openSecrets } from '../../../local-aws/read-secrets.ts';
import { deploy } from '../assembly-fixture.ts';
import { temporaryDirectory } from '../aws-front/front.ts';

/** Every file that later starts depend on. After one start has written it, another program or a person may damage it before the next. */

const SECRET = { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: {} } };

type KeptFile = [name: string, open: (directory: string) => Promise<unknown>, damaged: string[], remedy: RegExp];

const FILES: readonly KeptFile[] = [
  [
    'ports.json',
    (directory) => choosePorts(0, directory).then(({ app, ...kept }) => kept),
    [
      '',
      '{"cdn":1',
      '{}',
      'null',
      '[]',
      '{"cdn":"1","identityProvider":2,"aws":3}',
      '{"cdn":0,"identityProvider":2,"aws":3}',
    ],
    /restore it, or remove it to choose the ports anew.*links, accounts and uploads under way are lost/,
  ],
  [
    'secrets.json',
    async (directory) => openSecrets(await deploy({ A: SECRET }), directory, () => false),
    ['', '{"a":"se', 'null', '[]', '"secret"', '{"a":1}'],
    /restore it, or remove it for new secrets; what was signed or encrypted with the old ones/,
  ],
];

describe.each(FILES)('%s', (name, open, damaged, remedy) => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory, name);
  });

  test('is read again, and written by no later start', async () => {
    const first = await open(directory);
    // A file that is written again is another one, or younger.
    const { ino, mtimeMs, mode } = await stat(path);
    expect(await open(directory)).toEqual(first);
    expect(await stat(path)).toMatchObject({ ino, mtimeMs });
    expect(mode & 0o077).toBe(0);
    expect(await readdir(directory)).not.toContain(`${name}.new`);
  });

  test('is as good as not there when a first start was killed while it wrote it', async () => {
    await writeFile(`${path}.new`, '');
    const first = await open(directory);
    expect(await open(directory)).toEqual(first);
  });

  test.each(damaged)('with the content %o is refused in one sentence, and kept', async (content) => {
    await open(directory);
    await writeFile(path, content);
    const message = await open(directory).then(String, ({ message }: Error) => message);
    expect(message).toMatch(new RegExp(`^${path} is damaged: ${remedy.source}.*\\.$`));
    if (content !== '') expect(message.replace(path, '')).not.toContain(content);
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  test('that cannot be read is refused, and not taken for a missing one', async () => {
    await mkdir(path);
    await expect(open(directory)).rejects.toThrow(`${path} cannot be read: EISDIR`);
  });
});
