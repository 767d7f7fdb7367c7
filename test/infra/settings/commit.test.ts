import { execFileSync } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { commitCheckedOut, commitOfFunctions } from '../../../infra/settings/commit.ts';
import { synthesized } from '../../support/synthesized.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test('the commit of the functions is one of the repository, and every function has it', async () => {
  expect(commitOfFunctions()).toMatch(/^[0-9a-f]{40}(-changed)?$/);
  expect(commitCheckedOut()).toBe(execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim());
  const functions = [
    ...(await synthesized('Api', 'AWS::Lambda::Function')),
    ...(await synthesized('Streaming', 'AWS::Lambda::WebFunctionRevision')),
  ];
  expect(functions.length).toBeGreaterThan(15);
  for (const { Properties } of functions) expect(JSON.stringify(Properties)).toContain('"COMMIT":"');
});

test('without git the commit is unknown', async () => {
  vi.stubEnv('PATH', '/nowhere');
  vi.resetModules();
  const fresh = await import('../../../infra/settings/commit.ts');
  expect([fresh.commitOfFunctions(), fresh.commitCheckedOut()]).toEqual(['unknown', 'unknown']);
});
