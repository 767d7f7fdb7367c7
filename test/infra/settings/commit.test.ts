import { execFileSync } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { commitCheckedOut } from '../../../infra/settings/commit.ts';
import type { Template } from '../../../local-aws/template/assembly.ts';
import { resourcesOf, templatesOf } from '../../support/synthesize-stage.ts';
import { synthesized } from '../../support/synthesized.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test('the commit is the one that is checked out, and every function has it', async () => {
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  expect([head, `${head}-changed`]).toContain(commitCheckedOut());
  const functions = [
    ...(await synthesized('Api', 'AWS::Lambda::Function')),
    ...(await synthesized('Streaming', 'AWS::Lambda::WebFunctionRevision')),
  ];
  expect(functions.length).toBeGreaterThan(15);
  for (const { Properties } of functions) expect(JSON.stringify(Properties)).toContain('"COMMIT":"');
});

test('the commit is noted in the last stack that answers requests, and not among the settings', async () => {
  const { Edge, Data } = await templatesOf('prod');
  const noted = (template: Template | undefined, name: string) =>
    resourcesOf(template, 'AWS::SSM::Parameter').find(
      ({ Properties }) => Properties?.Name === `/file-hosting/prod/${name}`,
    )?.Properties?.Value;
  expect(noted(Edge, 'commit')).toBe(commitCheckedOut());
  expect(JSON.parse(String(noted(Data, 'settings')))).not.toHaveProperty('commit');
});

test('without git the commit is unknown', async () => {
  vi.stubEnv('PATH', '/nowhere');
  vi.resetModules();
  const fresh = await import('../../../infra/settings/commit.ts');
  expect(fresh.commitCheckedOut()).toBe('unknown');
});
