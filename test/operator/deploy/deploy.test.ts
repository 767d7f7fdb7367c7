import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commitCheckedOut } from '../../../infra/settings/commit.ts';
import { deployedSettings, parameterName, readStage, type StageSettings } from '../../../infra/settings/stage.ts';
import { STAGES } from '../../../infra/stages/stages.ts';
import { startAws } from '../../support/aws.ts';
import { inherited } from '../../support/inherited.ts';
import { openTerminal } from '../../support/terminal.ts';

/**
 * Runs `npm run deploy`, `npm run admin` and `npm run smoke` as processes. The local AWS has their parameters. A server stands in for the
 * deployed service, and scripts for the CDK CLI and the AWS CLI.
 */

const ROOT = join(import.meta.dirname, '../../..');

/** The parameters of the AWS account, by name. */
const parameters: Record<string, string> = {};
const { front, credentials } = await startAws({ region: STAGES.prod.region, parameters });
/** The path of each request to the deployed service, with the credential that it had. */
const requested: string[] = [];
const deployedService = createServer((request, response) => {
  requested.push(`${request.url} ${request.headers.authorization}`);
  request.resume();
  response.writeHead(500).end();
});
let directory: string;
/** What the last program printed on stdout. */
let printed = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'deploy-'));
  await once(deployedService.listen(0, '127.0.0.1'), 'listening');
  const script = (name: string, body: string) =>
    writeFile(join(directory, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  await script('cdk', `echo "$STAGE $*" >> "${directory}/cdk.log"`);
  await script(
    'aws',
    `echo "$*" >> "${directory}/aws.log"\n[ "$2" = list-stacks ] && cat "${directory}/failed.json" || cat "${directory}/resources.json"`,
  );
});
afterAll(async () => {
  deployedService.close();
  await rm(directory, { recursive: true });
});
beforeEach(async () => {
  for (const name of Object.keys(parameters)) delete parameters[name];
  for (const log of ['cdk.log', 'aws.log']) await rm(join(directory, log), { force: true });
  await writeFile(join(directory, 'failed.json'), '[]');
  await writeFile(join(directory, 'resources.json'), '["FileHosting-prod-Data-AccountsTable1"]');
});

/** Stores settings in the parameter of the stage, as the last deployment would have done. */
function deployed(changes: Partial<StageSettings> = {}): void {
  const stage = readStage('prod', { ...STAGES.prod, ...changes });
  parameters[parameterName('prod', 'settings')] = JSON.stringify(deployedSettings(stage));
  parameters[parameterName('prod', 'commit')] = '1234abcd';
}

const variables = (environment: Record<string, string>) => ({
  ...inherited(),
  PATH: `${directory}:${process.env.PATH}`,
  AWS_ENDPOINT_URL: front.endpoint,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_SESSION_TOKEN: credentials.sessionToken,
  ...environment,
});

async function run(program: string, args: readonly string[], environment: Record<string, string> = { STAGE: 'prod' }) {
  const child = spawn(process.execPath, [join(ROOT, program), ...args], {
    env: variables(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  printed = stdout;
  return { code, stderr, cdk: await calls() };
}
/** The arguments of each call of the CDK CLI; undefined when there was none. */
const calls = () =>
  readFile(join(directory, 'cdk.log'), 'utf8').then(
    (lines) => lines.trim(),
    () => undefined,
  );
const deploy = (...args: string[]) => run('operator/deploy/deploy.ts', ['--yes', ...args]);
/** The commands that the CDK gets: first for the differences, then for the deployment. */
const DEPLOYED = 'prod diff --all\nprod deploy --all --require-approval never';
const NOT_CHECKED = expect.stringMatching(/^\nDeployed, but not checked: there is no API key in FILE_HOSTING_KEY/);
const HEAD = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
const WAY_BACK = `
To go back to the commit that was deployed before, with the present settings:
  git checkout 1234abcd
  git checkout ${HEAD} -- infra/stages
  npm ci
  STAGE=prod npm run deploy
`;

describe('npm run deploy', () => {
  test('refuses without a stage, with a setting in the environment, and for the local environment', async () => {
    const withEnvironment = async (environment: Record<string, string>) =>
      (await run('operator/deploy/deploy.ts', ['--first'], environment)).stderr;
    expect(await withEnvironment({})).toMatch(/^no stage is named: .*\nNothing was deployed\.\n$/);
    expect(await withEnvironment({ STAGE: 'prod', FILE_COUNT_LIMIT: '5' })).toMatch(
      /^the environment has FILE_COUNT_LIMIT/,
    );
    expect(await withEnvironment({ STAGE: 'prod', AWS_REGION: 'us-west-2' })).toMatch(/^AWS_REGION is us-west-2, but/);
    expect(await withEnvironment({ STAGE: 'local' })).toMatch(/^The stage "local" is not deployed/);
  });

  test('shows its options, and does nothing else', async () => {
    deployed();
    expect(await deploy('--help')).toEqual({ code: 0, stderr: '', cdk: undefined });
  });

  test('refuses a stage that is not deployed, except with --first', async () => {
    const refused = await deploy();
    expect(refused).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        `The stage prod is not deployed in ${STAGES.prod.region} with these credentials.`,
      ),
      cdk: undefined,
    });
    expect(await deploy('--first', '--concurrency', '2')).toEqual({
      code: 0,
      stderr: NOT_CHECKED,
      cdk: `${DEPLOYED} --concurrency 2`,
    });
  });

  test('deploys when the settings are the deployed ones', async () => {
    deployed();
    expect(await deploy()).toEqual({ code: 0, stderr: NOT_CHECKED, cdk: DEPLOYED });
  });

  test('lists settings that have changed, and deploys them only with --change-settings', async () => {
    deployed({ limits: { FILE_COUNT_LIMIT: 7 }, streaming: 'off', whoMayLogIn: 'everyone' });
    const { code, stderr, cdk } = await deploy();
    expect([code, cdk]).toEqual([1, undefined]);
    expect(stderr.split('\n')).toEqual([
      'infra/stages/prod.ts differs from what is deployed:',
      '  limits.FILE_COUNT_LIMIT: deployed 7, in the file 100000',
      '  streaming: deployed none, in the file {"environments":20}',
      expect.stringMatching(/^ {2}whoMayLogIn: deployed sha256 [0-9a-f]{16}, in the file sha256 [0-9a-f]{16}$/),
      'To deploy these changes: npm run deploy -- --change-settings',
      'Nothing was deployed.',
      '',
    ]);
    expect(await deploy('--change-settings')).toMatchObject({ code: 0, cdk: DEPLOYED });
  });

  test('refuses a file that lacks the restored table in use, with any option', async () => {
    deployed({ restoredTables: { files: 'FileHosting-prod-files-1' } });
    for (const options of [[], ['--change-tables'], ['--first', '--change-settings', '--change-tables']]) {
      const { code, stderr, cdk } = await deploy(...options);
      expect([code, cdk]).toEqual([1, undefined]);
      expect(stderr).toContain(
        'The service would get new, empty tables:\n  restoredTables.files: deployed FileHosting-prod-files-1, in the file none\n',
      );
    }
  });

  test('accepts a file without the restored table when the data stack has imported that table', async () => {
    deployed({ restoredTables: { files: 'FileHosting-prod-files-1' } });
    await writeFile(
      join(directory, 'resources.json'),
      '["FileHosting-prod-files-1", "FileHosting-prod-Data-AccountsTable1"]',
    );
    expect(await deploy()).toEqual({ code: 0, stderr: NOT_CHECKED, cdk: DEPLOYED });
  });

  test.each([
    ['yes', 0, DEPLOYED],
    ['no', 1, 'prod diff --all'],
  ])('shows the differences, and deploys only when the operator types "yes" (%s)', async (answer, code, commands) => {
    deployed();
    const terminal = openTerminal([process.execPath, join(ROOT, 'operator/deploy/deploy.ts')], {
      cwd: ROOT,
      env: variables({ STAGE: 'prod' }),
    });
    await terminal.shows(/Deploy these changes\? Type "yes": $/);
    expect(await calls()).toBe('prod diff --all');
    terminal.type(`${answer}\r`);
    expect(await terminal.ended).toBe(code);
    expect(await calls()).toBe(commands);
  });

  test('deploys nothing when there is no terminal on which to confirm', async () => {
    deployed();
    expect(await run('operator/deploy/deploy.ts', [])).toEqual({
      code: 1,
      stderr: 'There is no terminal on which to confirm: add --yes.\nNothing was deployed.\n',
      cdk: undefined,
    });
  });

  test('ends with the exit code of `cdk deploy`, or with 1 when `cdk diff` fails, and says what to do', async () => {
    deployed();
    await cdk('[ "$1" = diff ] || exit 3');
    const { code, stderr } = await deploy();
    expect([code, stderr]).toEqual([3, expect.stringContaining('"A deployment that fails"')]);
    expect(stderr).toContain(WAY_BACK);
    await cdk('exit 4');
    expect(await deploy()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"cdk diff" failed.\nNothing was deployed.'),
    });
  });

  test('lets the next deployment remove a protected stack that could not be created', async () => {
    await cdk('[ "$1" = diff ]');
    await writeFile(join(directory, 'failed.json'), '["FileHosting-prod-Data"]');
    const { code, stderr } = await deploy('--first');
    expect([code, stderr]).toEqual([1, expect.stringContaining('FileHosting-prod-Data could not be created.')]);
    const region = STAGES.prod.region;
    expect((await readFile(join(directory, 'aws.log'), 'utf8')).trim().split('\n')).toEqual([
      expect.stringMatching(`^cloudformation list-stacks --region ${region} .*'FileHosting-prod-'`),
      `cloudformation update-termination-protection --region ${region} --stack-name FileHosting-prod-Data --no-enable-termination-protection`,
    ]);
    await writeFile(join(directory, 'failed.json'), 'no JSON');
    expect((await deploy('--first')).stderr).toContain('turn off its protection before you deploy again');
  });

  test('checks the service that it has deployed, at the address of the stage, with the given key', async () => {
    deployed();
    await cdk('');
    const { port } = deployedService.address() as AddressInfo;
    parameters[parameterName('prod', 'app-url')] = `http://127.0.0.1:${port}`;
    requested.length = 0;
    const environment = { STAGE: 'prod', FILE_HOSTING_KEY: 'svc_live_x' };
    const { code, stderr } = await run('operator/deploy/deploy.ts', ['--yes'], environment);
    expect(requested).toContain('/api/v1/files Bearer svc_live_x');
    expect(printed).toMatch(
      /^DOES NOT HOLD .*limiter: .*\n +docs\/not-tried-on-aws\.md: List updates in one expression$/m,
    );
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('Deployed, but the service does not do what it should.'),
    ]);
    expect(stderr).toContain(WAY_BACK);
  });

  test('prints the exact way back, also when all is well', async () => {
    deployed();
    await cdk('');
    const wayBack = async (noted?: string) => {
      if (noted === undefined) delete parameters[parameterName('prod', 'commit')];
      else parameters[parameterName('prod', 'commit')] = noted;
      const { code, stderr } = await deploy();
      expect(code).toBe(0);
      return stderr;
    };
    expect(await wayBack('1234abcd')).toContain(WAY_BACK);
    expect(await wayBack('1234abcd-changed')).toContain(
      `${WAY_BACK}It was deployed with changes that are in no commit.`,
    );
    expect(await wayBack(commitCheckedOut())).toContain(
      'put them back into infra/stages/prod.ts, and run:\n  STAGE=prod npm run deploy -- --change-settings\n',
    );
    expect(await wayBack()).toContain('\nThis was the first deployment: there is no earlier version to go back to.\n');
  });
});

/** Replaces the CDK CLI. */
const cdk = (body: string) => writeFile(join(directory, 'cdk'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });

test('the noted settings of a stage fit into a parameter and hold no e-mail address', () => {
  const emails = Array.from({ length: 40 }, (_, index) => `somebody-${index}@example.com`);
  const names = ['accounts', 'files', 'apiKeys', 'sessions', 'rateLimits', 'idempotency'];
  const stage = readStage('prod', {
    ...STAGES.prod,
    whoMayLogIn: { emails },
    alarmEmails: { page: emails, ticket: emails },
    restoredTables: Object.fromEntries(names.map((name) => [name, `FileHosting-prod-${name.padEnd(200, 'x')}`])),
  });
  const noted = JSON.stringify(deployedSettings(stage));
  // Source: Parameter Store, "Managing parameter tiers".
  expect(noted.length).toBeLessThan(4_096);
  expect(noted).not.toContain('@');
});

test.each([
  ['npm run admin', 'operator/admin/run.ts', ['show', 'a@example.com'], 1],
  ['npm run smoke', 'operator/smoke/run.ts', ['--key', 'svc_live_x'], 2],
])(
  '%s refuses a stage that is not deployed, or that uses another table than its file says',
  async (_, program, args, code) => {
    const missing = await run(program, args);
    expect([missing.code, missing.stderr]).toEqual([
      code,
      expect.stringMatching(/^The stage "prod" is not deployed in this AWS/),
    ]);
    parameters[parameterName('prod', 'operator')] = '{}';
    deployed({ restoredTables: { files: 'FileHosting-prod-files-1' } });
    const other = await run(program, args);
    expect(other.code).toBe(code);
    expect(other.stderr).toMatch(
      /^infra\/stages\/prod\.ts differs from what is deployed:\n {2}restoredTables\.files: deployed FileHosting-prod-files-1, in the file none\nDeploy first/,
    );
  },
);

test('npm run smoke refuses limits that are not deployed, and options whose values are in the file of the stage', async () => {
  deployed({ limits: { MAX_UPLOAD_SIZE_BYTES: 7 } });
  const { code, stderr } = await run('operator/smoke/run.ts', ['--key', 'svc_live_x']);
  expect(code).toBe(2);
  expect(stderr).toContain('limits.MAX_UPLOAD_SIZE_BYTES: deployed 7, in the file 104857600');
  const given = await run('operator/smoke/run.ts', ['--key', 'svc_live_x', '--base-url', 'http://localhost:1/api/v1']);
  expect(given.stderr).toMatch(/^--base-url is only for STAGE=local\./);
});
