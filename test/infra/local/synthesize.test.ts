import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { synthesize } from '../../../infra/local/synthesize.ts';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { checkResourceType } from '../../../local-aws/template/resource-types.ts';

afterEach(() => vi.unstubAllEnvs());

test('npm start synthesizes the stage local, whatever stage an operator has named for AWS, and has no firewall', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'synthesize-'));
  vi.stubEnv('STAGE', 'prod');
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ stage: 'prod' }));
  vi.stubEnv('CDK_BUNDLES', join(inject('assembly'), 'bundles'));
  try {
    await synthesize(directory);
    const { templates } = await loadAssembly(directory);
    expect(Object.keys(templates).filter((name) => !name.startsWith('FileHosting-local-'))).toEqual([]);
    expect(Object.keys(templates)).not.toContain('FileHosting-local-Firewall');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  // A template with a firewall does not start, instead of running without it.
  expect(() => checkResourceType('AWS::WAFv2::WebACL', 'WebAcl')).toThrow('nothing for AWS::WAFv2::WebACL');
});
