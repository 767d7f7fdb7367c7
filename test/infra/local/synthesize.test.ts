import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { fingerprint, synthesizeWhenChanged } from '../../../infra/local/synthesize.ts';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { checkResourceType } from '../../../local-aws/template/resource-types.ts';

describe('npm start synthesizes', () => {
  let directory: string;
  let output: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'synthesize-'));
    output = join(directory, 'cdk.out');
    // An earlier start has made this folder, and was ended before it had finished.
    await mkdir(output);
    vi.stubEnv('STAGE', 'prod');
    vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ stage: 'prod' }));
    vi.stubEnv('CDK_BUNDLES', join(inject('assembly'), 'bundles'));
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true, force: true });
  });

  const isRepeated = async () => {
    await writeFile(join(output, 'mark'), '');
    await synthesizeWhenChanged(output);
    return !(await readdir(output)).includes('mark');
  };

  test('npm start synthesizes the stage local, whatever stage an operator has named for AWS, and has no firewall', async () => {
    expect(await isRepeated()).toBe(true);
    const { templates } = await loadAssembly(output);
    expect(Object.keys(templates)).not.toEqual([]);
    expect(Object.keys(templates).filter((name) => !name.startsWith('FileHosting-local-'))).toEqual([]);
    expect(Object.keys(templates)).not.toContain('FileHosting-local-Firewall');
    // If a template had a firewall, the start would fail: the local AWS would not leave the firewall out.
    expect(() => checkResourceType('AWS::WAFv2::WebACL', 'WebAcl')).toThrow('nothing for AWS::WAFv2::WebACL');
  });

  test('npm start synthesizes again only when an input has changed, or the last synthesis was not finished', async () => {
    expect(await isRepeated()).toBe(false);
    vi.stubEnv('RATE_LIMIT_LISTS_PER_MINUTE', '7');
    expect(await isRepeated()).toBe(true);
  });
});

test('every file counts as an input, but not data, tests, documents and hidden folders', async () => {
  const root = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const folder of ['functions', 'data', 'test', 'docs', '.git', 'node_modules']) await mkdir(join(root, folder));
  const inputs = (environment = {}) => fingerprint({ root, except: join(root, 'data'), environment });
  const first = inputs();
  for (const ignored of ['data/table', 'test/a.ts', 'docs/a.md', '.git/index', 'node_modules/a']) {
    await writeFile(join(root, ignored), '');
  }
  expect(inputs()).toBe(first);
  const seen = new Set([first, inputs({ LIMIT: '1' })]);
  for (const counted of ['package.json', 'functions/a.ts', 'functions/a.ts', 'node_modules/.package-lock.json']) {
    await appendFile(join(root, counted), 'x');
    seen.add(inputs());
  }
  await rm(join(root, 'functions/a.ts'));
  seen.add(inputs());
  expect(seen.size).toBe(7);
});
