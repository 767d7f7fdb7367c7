import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALARMS } from '../../infra/operations/alarm-list.ts';
import { onlySynthesized } from '../support/synthesized.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/alarms.md'), 'utf8');
const [, ...parts] = page.split(/^## /m);
const sections = parts.map((part) => ({ name: part.split('\n', 1)[0] ?? '', text: part }));

test('the page on alarms has exactly one section for each alarm', () => {
  expect(sections.map(({ name }) => name)).toEqual(Object.keys(ALARMS));
});

test.each(sections)('the section $name says three things to look at first, and how to mend it', ({ text }) => {
  const [, looks = '', mend = ''] = /\n\n(1\. [\s\S]*?)\n\n\*\*Mend\*\*: ([\s\S]*)$/.exec(text) ?? [];
  expect(looks.match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ']);
  expect(mend.length).toBeGreaterThan(40);
});

test('the graphs that the page names are on the dashboard', async () => {
  const { Properties } = await onlySynthesized('Operations', 'AWS::CloudWatch::Dashboard');
  const titles = JSON.stringify(Properties.DashboardBody);
  const named = [...page.matchAll(/"([A-Z][a-z][\w ]+)"/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !titles.includes(name))).toEqual([]);
});
