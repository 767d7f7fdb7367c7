import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { pageCommands } from './operator-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const commands = pageCommands(readFileSync(join(ROOT, 'docs/operate.md'), 'utf8'));

test("every option of the guide's CDK commands exists", async () => {
  const given = new Map<string, string[]>();
  for (const line of commands) {
    const [, command = '', text = ''] = /npx cdk (\w+)(.*)/.exec(line) ?? [];
    const options = [...text.matchAll(/ (--[\w-]+)/g)].map(([, option = '']) => option);
    if (options.length > 0) given.set(command, [...(given.get(command) ?? []), ...options]);
  }
  expect(given.size).toBeGreaterThan(0);
  for (const [command, options] of given) {
    const { stdout } = await promisify(execFile)(join(ROOT, 'node_modules/.bin/cdk'), [command, '--help'], {
      cwd: ROOT,
    });
    expect([command, stdout.match(/--[\w-]+/g)]).toEqual([command, expect.arrayContaining(options)]);
  }
});
