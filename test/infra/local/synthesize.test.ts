import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

  test('the synthesizer of a start that was killed may still be writing', async () => {
    const write = async () => {
      for (let file = 0; file < 500; file++) {
        // The folder may be removed within each of the two calls.
        await mkdir(join(output, 'asset'), { recursive: true })
          .then(() => writeFile(join(output, 'asset', String(file)), ''))
          .catch((error) => expect(error.code).toBe('ENOENT'));
      }
    };
    // The output folder is emptied, and nothing more is done.
    const stopped = synthesize(output, AbortSignal.abort());
    await Promise.all([write(), expect(stopped).rejects.toThrow('aborted')]);
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
