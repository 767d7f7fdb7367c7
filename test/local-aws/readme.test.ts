import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TABLE_OPERATIONS } from '../../local-aws/aws-front/dynamodb-service.ts';
import { choosePorts, freePort } from '../../local-aws/host/ports.ts';
import { OPERATIONS } from '../../local-aws/s3/operation.ts';
import { IMPLEMENTED_TYPES } from '../../local-aws/template/resource-types.ts';
import { temporaryDirectory } from './aws-front/front.ts';

const FOLDER = join(import.meta.dirname, '../../local-aws');
const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
/** What stands in backquotes in a part of the text. */
const quoted = (text = '', pattern = /`([^`]+)`/g) => [...text.matchAll(pattern)].map(([, name]) => name);

test('the README of the local AWS names every folder of it', () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const named = quoted(readme, /^\| `([\w-]+)\/` \|/gm);
  expect(named.sort()).toEqual(folders.map(({ name }) => name).sort());
});

test('the README of the local AWS names every type of resource that is implemented', () => {
  const table = readme.slice(0, readme.indexOf('These operations exist'));
  expect(quoted(table, /`((?:AWS|Custom)::[\w:]+)`/g).sort()).toEqual([...IMPLEMENTED_TYPES].sort());
});

test('the README of the local AWS names every operation of S3 and DynamoDB that is implemented', () => {
  const list = (service: string) => new RegExp(`^- ${service}: ([^-#]*)`, 'm').exec(readme)?.[1];
  expect(quoted(list('S3')).sort()).toEqual(Object.keys(OPERATIONS).sort());
  expect(quoted(list('DynamoDB')).sort()).toEqual([...TABLE_OPERATIONS].sort());
});

test('the README of the local AWS names files that exist', () => {
  const files = quoted(readme, /`([\w/-]+\.ts)`/g);
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    expect(() => readFileSync(join(FOLDER, file?.startsWith('infra/') ? '..' : '', String(file)))).not.toThrow();
  }
});

test('the page of evidence names the tests that exist, each at least once', () => {
  const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const tests = globSync('**/*.test.ts', { cwd: import.meta.dirname });
  expect([...new Set(quoted(page, /`([\w/-]+\.test\.ts)`/g))].sort()).toEqual(tests.sort());
});

test('what is known from nothing is on the page of what has never run on AWS, or the product does not rely on it', () => {
  const page = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  const untried = readFileSync(join(FOLDER, '../docs/not-tried-on-aws.md'), 'utf8');
  const anchors = [...untried.matchAll(/^## (.+)/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const assumptions = [...page.matchAll(/\*\*nothing\*\*([^|]*)/g)].map(([, rest = '']) => rest);
  expect(assumptions.length).toBeGreaterThan(10);
  const unexplained = assumptions.filter((rest) => {
    const [, anchor] = /docs\/not-tried-on-aws\.md#([\w-]+)\)/.exec(rest) ?? [];
    return anchor === undefined ? !rest.includes('not relied on') : !anchors.includes(anchor);
  });
  expect(unexplained).toEqual([]);
});

test('the servers have the ports that the README of the local AWS names', async () => {
  const offset = (server: string) => {
    const [sentence = '', number = 0] =
      new RegExp(`${server}(?:\\s+listens)? at \`port\`(?: \\+ (\\d))?`).exec(readme) ?? [];
    expect(sentence).toContain('at `port`');
    return Number(number);
  };
  const chosen = async () => {
    const port = await freePort();
    const ports = await choosePorts(port, temporaryDirectory());
    return Object.fromEntries(Object.entries(ports).map(([server, own]) => [server, own - port]));
  };
  // When another program has one of the ports, the service takes the next.
  await expect.poll(chosen).toEqual({
    app: offset("app's distribution"),
    cdn: offset('other\\s+distribution'),
    identityProvider: offset('identity\\s+provider'),
    aws: offset('AWS front'),
  });
});
