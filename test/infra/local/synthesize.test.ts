import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { synthesize } from '../../../infra/local/synthesize.ts';
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

  test('npm start synthesizes the stage local, whatever stage an operator has named for AWS, and has no firewall', async () => {
    await synthesize(output);
    const { templates } = await loadAssembly(output);
    expect(Object.keys(templates)).not.toEqual([]);
    expect(Object.keys(templates).filter((name) => !name.startsWith('FileHosting-local-'))).toEqual([]);
    expect(Object.keys(templates)).not.toContain('FileHosting-local-Firewall');
    // If a template had a firewall, the start would fail: the local AWS would not leave the firewall out.
    expect(() => checkResourceType('AWS::WAFv2::WebACL', 'WebAcl')).toThrow('nothing for AWS::WAFv2::WebACL');
  });
});
