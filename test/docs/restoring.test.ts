import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parameterName } from '../../infra/settings/stage.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../shared/contract/limits.ts';
import { isUploadsKey } from '../../shared/files/object-key.ts';
import { TABLES, type TableDefinition } from '../../shared/tables.ts';
import { synthesized } from '../support/synthesized.ts';
import { pageSettings } from './operator-page.ts';

/** The sections of docs/operate.md about restoring and exporting agree with the stacks and the code. restoring.soak.ts restores a table. */

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
const section = (title: string) => new RegExp(`\\n## ${title}\\n([\\s\\S]*?)\\n## `).exec(page)?.[1] ?? '';
const [restoring, exporting] = [section('Restoring a table'), section('Exporting everything')];
const commands = [...`${restoring}${exporting}`.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, code]) => code)
  .join('\n')
  .replaceAll('$STAGE', 'prod');
const all = (pattern: RegExp) => new Set([...commands.matchAll(pattern)].map(([, found = '']) => found));

test("the guide reads the stage's parameter, and only values that are in it", async () => {
  expect(all(/ssm get-parameter --name (\S+)/g)).toEqual(new Set([parameterName('prod', 'operator')]));
  const parameters = await synthesized('Data', 'AWS::SSM::Parameter');
  const operator = parameters.find(({ Properties }) => Properties.Name === parameterName('local', 'operator'));
  const text = JSON.stringify(operator?.Properties.Value);
  const read = [
    ...all(/jq -r \.(\w+)/g),
    ...[...all(/for VARIABLE in ([A-Z_ ]+);/g)].flatMap((list) => list.split(' ')),
  ];
  expect(read.length).toBeGreaterThan(3);
  for (const variable of read) expect(text).toContain(`\\"${variable}\\":`);
});

test("the guide's name of a restored table is the same in its commands and in its example of the stage's file", () => {
  const [name] = all(/^RESTORED=(\S+)$/gm);
  expect(pageSettings(restoring)).toContainEqual({ restoredTables: { files: name } });
});

test("the guide turns on expiry with the tables' attributes", () => {
  const attributes = new Set(Object.values<TableDefinition>(TABLES).flatMap(({ ttl }) => ttl ?? []));
  expect(all(/AttributeName=(\w+)/g)).toEqual(attributes);
});

test('the guide uses the right prefix of objects, and the days that they are kept', () => {
  for (const prefix of [...all(/--prefix (uploads\/)/g), ...all(/^KEY=(\S+)$/gm)]) {
    expect([prefix, isUploadsKey(prefix)]).toEqual([prefix, true]);
  }
  const days = new Set([...restoring.matchAll(/\b(\d+) days/g)].map(([, count]) => Number(count)));
  // DynamoDB keeps point-in-time backups for 35 days.
  expect(days).toEqual(new Set([35, DELETED_BYTES_KEPT_DAYS]));
});

test("the guide's links to its own headings work", () => {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  const anchors = headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.filter((anchor) => !anchors.includes(String(anchor)))).toEqual([]);
  expect(links.length).toBeGreaterThan(0);
});
