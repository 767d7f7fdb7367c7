import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Template } from '../../../local-aws/service.ts';
import { inherited } from '../../support/inherited.ts';
import { synthesizeStage } from '../../support/synthesize-stage.ts';
import { startCloudFormation } from './cloudformation.ts';

const ROOT = join(import.meta.dirname, '../../..');
const RESTORED = 'FileHosting-prod-restored-files';

/** Runs `npm run deploy` with the real CDK CLI, against a server that keeps stacks as CloudFormation does. */
test('a table in place of another reaches every stack that uses it, although only the template of the data stack has changed', async () => {
  const before = await synthesizeStage('prod');
  const after = await synthesizeStage('prod', { restoredTables: { files: RESTORED } });
  const directory = await mkdtemp(join(tmpdir(), 'replaced-table-'));
  const deployed = Object.entries(before.templates).map(([name, template]) => [
    name,
    { template, isProtected: name === 'FileHosting-prod-Data' },
  ]);
  const aws = await startCloudFormation(Object.fromEntries(deployed), (name) => after.templates[name] as Template);
  try {
    const cdk = join(ROOT, 'node_modules/.bin/cdk');
    await writeFile(join(directory, 'cdk'), `#!/bin/sh\nexec "${cdk}" "$@" --app "${after.directory}" --no-notices\n`, {
      mode: 0o755,
    });
    const child = spawn(process.execPath, [join(ROOT, 'operator/deploy/deploy.ts'), '--yes'], {
      cwd: directory,
      env: {
        ...inherited(),
        STAGE: 'prod',
        PATH: `${directory}:${process.env.PATH}`,
        AWS_ENDPOINT_URL: aws.endpoint,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        CDK_DISABLE_CLI_TELEMETRY: 'true',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    expect([code, stdout, stderr]).toEqual([0, expect.any(String), expect.stringContaining('\nDeployed')]);
    const part = (stack: string) => stack.replace('FileHosting-prod-', '');
    // The CLI asks about every stack that reads a value, also about the edge, which does not use the table. It asks about the stack that
    // reads outputs of another Region as well, because its template does not show when a distribution was replaced.
    expect(aws.updates.map(([stack, hadChanges]) => [part(stack), hadChanges])).toEqual([
      ['Data', true],
      ['Api', true],
      ['Streaming', true],
      ['Edge', false],
      ['Operations', true],
      ['EdgeAlarms-eu-central-1', false],
    ]);
    for (const stack of ['Api', 'Streaming', 'Operations']) {
      expect(aws.parametersOf(`FileHosting-prod-${stack}`)).toHaveProperty('SharedFilesTable', RESTORED);
    }
  } finally {
    aws.close();
    await Promise.all([before.remove(), after.remove(), rm(directory, { recursive: true })]);
  }
});
