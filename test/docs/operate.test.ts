import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ROUTES } from '../../functions/routes.ts';
import { BACKGROUND_ENTRIES } from '../../infra/bundle/entries.ts';
import { throttleOf } from '../../infra/constructs/gateway-stage.ts';
import { ALARMS } from '../../infra/operations/alarm-list.ts';
import { OUTPUTS } from '../../infra/settings/outputs.ts';
import { parameterName, readStage, SETTINGS, type StageSettings } from '../../infra/settings/stage.ts';
import { STAGES } from '../../infra/stages/stages.ts';
import { type Assembly, loadAssembly, type Template } from '../../local-aws/template/assembly.ts';
import { parseCommandLine } from '../../operator/admin/command-line.ts';
import { COMMANDS } from '../../operator/admin/commands.ts';
import { LANE_CHECKS } from '../../operator/smoke/lanes.ts';
import { LIMITER_CHECKS } from '../../operator/smoke/limiter.ts';
import { LINK_CHECKS } from '../../operator/smoke/links.ts';
import { entriesFor, entriesOfNeverTried } from '../../operator/smoke/never-tried.ts';
import { REFUSAL_CHECKS } from '../../operator/smoke/refusals.ts';
import { ROUTE_CHECKS } from '../../operator/smoke/routes.ts';
import { parseLimit } from '../../shared/contract/limits.ts';
import { LOGIN_ERRORS } from '../../shared/contract/login-errors.ts';
import { TABLES, type TableName } from '../../shared/tables.ts';
import { inherited } from '../support/inherited.ts';
import { askForTicket, complete, put } from '../support/lanes.ts';
import { startTestService } from '../support/service.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from '../support/synthesize-stage.ts';
import { pageCommands, pageSettings, shellLines } from './operator-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
const pageOfProd = page.replaceAll('$STAGE', 'prod');
const commands = pageCommands(page);
const settings = pageSettings(page);
const CHECKS = [ROUTE_CHECKS, LINK_CHECKS, REFUSAL_CHECKS, LANE_CHECKS, LIMITER_CHECKS].flat();

test("the guide's admin commands are valid, and it has an example of every command", () => {
  const lines = [...page.matchAll(/^ *npm run (?:--silent )?admin -- (.+)$/gm)].map(([, line = '']) => line.split(' '));
  const parsed = lines.map((args) => parseCommandLine(args)?.command);
  expect(new Set(parsed)).toEqual(new Set(Object.values(COMMANDS)));
});

test('the guide names the parameters that hold the tables and the settings of a deployment', () => {
  for (const kept of ['operator', 'settings'] as const) {
    expect(page).toContain(`\`${parameterName('<stage>' as 'prod', kept)}\``);
  }
});

test('the guide and the alarm say how many requests of strangers stop a route', () => {
  const { startLogin, finishLogin, getFile, deleteFile, listFiles, uploadFile, createUpload } = ROUTES;
  const said = (pattern: RegExp) => Number(pattern.exec(page)?.[1]);
  for (const [pattern, ...routes] of [
    [/^\| (\d+) starts of logins, or \1 callbacks \|/m, startLogin, finishLogin],
    [/^\| (\d+) to one of the other routes, such as details or deletions/m, getFile, deleteFile],
    [/^\| (\d+) lists, \1 forms up to 4 MiB, or \1 tickets \|/m, listFiles, uploadFile, createUpload],
  ] as const) {
    for (const route of routes) expect(said(pattern)).toBe(throttleOf(route).throttlingRateLimit);
  }
  expect(ALARMS.LoginThrottles.meaning).toContain(`${throttleOf(startLogin).throttlingRateLimit} logins a second`);
});

test("every script in the guide's commands exists, and no command has a context or a variable of its own", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(commands.length).toBeGreaterThan(15);
  for (const line of commands) {
    const [, script] = /npm run (?:--silent )?(\w+)/.exec(line) ?? [];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
  }
  expect(shellLines(page).filter((line) => /^[A-Z_]+=\S+ +(npm|npx) | -c \w+=/.test(line))).toEqual([]);
});

test("every option of the guide's deployments exists", () => {
  const source = readFileSync(join(ROOT, 'operator/deploy/deploy.ts'), 'utf8');
  const options = commands.flatMap((line) =>
    line.startsWith('npm run deploy') ? (line.match(/--[a-z-]+/g) ?? []) : [],
  );
  expect(new Set(options)).toEqual(new Set(source.match(/(?<=^ {2}')--[a-z-]+(?=':)/gm)));
});

test("the guide's examples of settings are valid", () => {
  expect(settings.length).toBeGreaterThan(5);
  for (const example of settings) expect(() => readStage('prod', { ...STAGES.prod, ...example })).not.toThrow();
  const text = [...page.matchAll(/`(\w+): ('\w+'|true|false)`/g)].map(([, name]) => name);
  expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(text));
  expect(text.length).toBeGreaterThan(3);
});

test('an invalid limit is rejected with the message in the guide', () => {
  const sentence = 'MAX_UPLOAD_SIZE_BYTES must be a whole number from 1 to 5242880000, not "100MB"';
  expect(page).toContain(sentence);
  expect(() => parseLimit('MAX_UPLOAD_SIZE_BYTES', '100MB')).toThrow(sentence);
});

test('the guide reads outputs that exist, from the right stack, and uses every output except CdnUrl', () => {
  const asked = [...page.matchAll(/\boutput ([A-Z]\w+)(?:-\$AWS_REGION)? (\w+)/g)].map(([, stack, name]) => [
    name,
    stack,
  ]);
  expect(asked.length).toBeGreaterThan(10);
  for (const [name, stack] of asked) expect(OUTPUTS).toHaveProperty([String(name), 'stack'], stack);
  const unused = Object.keys(OUTPUTS).filter((name) => !asked.some(([other]) => other === name));
  // The operator needs no command that reads the address of the CDN, because it is in every link.
  expect(unused).toEqual(['CdnUrl']);
});

test("the guide's codes of a failed login exist", () => {
  const codes = [...page.matchAll(/`error=(\w+)`/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(2);
  expect(Object.keys(LOGIN_ERRORS)).toEqual(expect.arrayContaining(codes));
});

test('the functions, tables and settings that the guide names exist', () => {
  const named = [...page.matchAll(/`([a-z]+[A-Z][A-Za-z]*)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(10);
  const tables = Object.keys(TABLES) as TableName[];
  const known = [...Object.keys(SETTINGS), ...Object.keys(ROUTES), ...Object.keys(BACKGROUND_ENTRIES), ...tables];
  expect(known).toEqual(expect.arrayContaining(named));
});

test('the guide says where to look for every check of the smoke run', () => {
  const [, table = ''] = /\| Check \| Where to look \|\n.*\n((?:\|.*\n)+)/.exec(page) ?? [];
  const beginnings = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(.+?)`/g)].map(([, beginning = '']) => beginning),
  );
  const names = CHECKS.map(({ name }) => name);
  expect(names.filter((name) => !beginnings.some((beginning) => name.startsWith(beginning)))).toEqual([]);
  expect(beginnings.filter((beginning) => !names.some((name) => name.startsWith(beginning)))).toEqual([]);
});

test('a failed check of the smoke run names entries of the page of what has never run on AWS, exactly those that the page calls tried', () => {
  const untried = readFileSync(join(ROOT, 'docs/not-tried-on-aws.md'), 'utf8');
  const entries = [...untried.matchAll(/^## (.+)\n\n((?:- .*\n(?: {2}.*\n)*)+)/gm)];
  expect(entries.length).toBe(untried.match(/^## /gm)?.length);
  for (const [, heading, text = ''] of entries) {
    const labels = [...text.matchAll(/^- \*\*(.+?)\*\*:/gm)].map(([, label]) => label);
    expect([heading, labels]).toEqual([heading, ['We count on', 'Symptom', 'Where it shows', 'Switch']]);
  }
  const headings = entries.map(([, heading]) => heading);
  const [, lastTried] = /The checks try the sections up to \[([^\]]+)\]/.exec(untried) ?? [];
  const tried = headings.slice(0, headings.indexOf(lastTried?.replaceAll(/\s+/g, ' ')) + 1);
  expect(tried).toEqual(entriesOfNeverTried());
  expect(new Set(tried)).toEqual(new Set(CHECKS.flatMap(({ name }) => entriesFor(name))));
});

test("the guide's policy that stops direct uploads denies their PUTs, even to older URLs, and nothing else", async () => {
  const [, policy = ''] = /--policy-name stop-direct-uploads --policy-document '(.*)'/.exec(page) ?? [];
  const service = await startTestService({}, { mayLackGrants: true });
  try {
    const { byKey } = await service.newAccount();
    const { body: before } = await askForTicket(byKey, 'before.bin', 5);
    const { body: arrived } = await askForTicket(byKey, 'arrived.bin', 5);
    expect(await put(arrived, 'hello')).toBe(200);
    const { roleArn } = service.lambda.find('CreateUploadFunction');
    service.front.addPolicy(roleArn.split('/').at(-1) ?? '', JSON.parse(policy));
    const { status, body: after } = await askForTicket(byKey, 'after.bin', 5);
    expect([status, await put(before, 'hello'), await put(after, 'hello')]).toEqual([202, 403, 403]);
    expect((await complete(byKey, arrived)).status).toBe(201);
    expect((await byKey.upload('form.txt', 'hello')).status).toBe(201);
    expect((await byKey.request('DELETE', `/uploads/${before.id}`)).status).toBe(200);
  } finally {
    await service.close();
  }
});

/** The two policies of "Deploying from CI", by their first action. */
const CI_POLICIES = Object.fromEntries(
  [...page.matchAll(/^ *```json\n( *\{\n *"Version"[\s\S]*?)^ *```$/gm)].map(([, text = '']) => {
    const { Statement: statements } = JSON.parse(text) as {
      Statement: { Action: string | string[]; Resource?: string | string[]; Condition?: unknown }[];
    };
    return [String(statements[0]?.Action), statements];
  }),
);

test("the guide's role for CI trusts one environment of one repository, as the example workflow has it", () => {
  const [trust, ...others] = CI_POLICIES['sts:AssumeRoleWithWebIdentity'] ?? [];
  expect(others).toEqual([]);
  const environment = /^ {4}environment: (\w+)$/m.exec(readFileSync(join(ROOT, 'examples/deploy.yml'), 'utf8'))?.[1];
  const issuer = 'token.actions.githubusercontent.com';
  expect(trust?.Condition).toEqual({
    StringEquals: {
      [`${issuer}:aud`]: 'sts.amazonaws.com',
      [`${issuer}:sub`]: expect.stringMatching(`^repo:[\\w-]+@\\d+/[\\w-]+@\\d+:environment:${environment}$`),
    },
  });
});

test("the guide's role for CI may do what the deployment does with its credentials, and reads no secret", () => {
  const granted = (CI_POLICIES['sts:AssumeRole'] ?? []).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${resource}`)),
  );
  const calls = [
    ...readFileSync(join(ROOT, 'operator/deploy/deploy.ts'), 'utf8').matchAll(/\['([a-z]+(?:-[a-z]+)+)',/g),
  ];
  const operations = calls.map(([, name = '']) =>
    name.replaceAll(/(^|-)(\w)/g, (_, _dash, letter) => letter.toUpperCase()),
  );
  expect(operations).toHaveLength(3);
  const read = (['settings', 'commit', 'app-url'] as const).map((kept) => parameterName('prod', kept));
  const { region } = STAGES.prod;
  const needed = [
    expect.stringMatching(/^sts:AssumeRole .*:role\/cdk-/),
    ...read.map((name) => `ssm:GetParameter arn:aws:ssm:${region}:123456789012:parameter${name}`),
    ...operations.map((name) => expect.stringMatching(`^cloudformation:${name} `)),
  ];
  expect(granted).toHaveLength(needed.length);
  expect(granted).toEqual(expect.arrayContaining(needed));
});

/**
 * Puts the examples of settings into few stages, because each synthesis takes long. Examples share a stage if they set different things.
 */
function settingsTogether(): Partial<StageSettings>[] {
  const stages: Partial<StageSettings>[] = [];
  for (const example of settings) {
    const free = stages.find((stage) => Object.keys(example).every((name) => !Object.hasOwn(stage, name)));
    if (free) Object.assign(free, example);
    else stages.push({ ...example });
  }
  return stages;
}

describe('the guide, followed as far as possible without AWS:', () => {
  let bySynth: Assembly;
  let directory: string;
  const chosen: SynthesizedStage[] = [];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'operate-'));
    // The command of the guide, with three changes. It writes into another directory, by a relative path as in cdk.json. It neither builds
    // the bundles (test/infra/bundle.test.ts checks that) nor validates the templates (test/infra/validation.test.ts).
    const bundles = join(inject('assembly'), 'bundles');
    const environment = { STAGE: 'prod', CI: 'true', CDK_BUNDLES: bundles, CDK_VALIDATION: 'false' };
    const options = { cwd: ROOT, env: { ...inherited(), ...environment } };
    await promisify(execFile)('npm', ['run', 'synth', '--', '--output', relative(ROOT, directory)], options);
    bySynth = await loadAssembly(directory);
    for (const together of settingsTogether()) chosen.push(await synthesizeStage('prod', together));
  });
  afterAll(() => Promise.all([rm(directory, { recursive: true }), ...chosen.map(({ remove }) => remove())]));

  test('npm run synth writes the stacks of the stage prod that the guide lists, in the order of the guide', () => {
    expect(shellLines(page)).toContain('npm run synth');
    expect(JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'))).toHaveProperty('output', 'cdk.out');
    const [, table = ''] = /\| Stack \| What is in it \|\n.*\n((?:\|.*\n)+)/.exec(page) ?? [];
    const stacks = [...table.matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
    const made = Object.keys(bySynth.templates).map((name) => name.replace(`-${STAGES.prod.region}`, '-<Region>'));
    expect(made).toEqual(stacks);
    const named = [...pageOfProd.matchAll(/\bFileHosting-prod-([A-Z][a-z]+)\b/g)].map(([name]) => name);
    const known = stacks.map((name) => String(name).replace('-<Region>', ''));
    expect(known).toEqual(expect.arrayContaining(named));
  });

  test('the roles that the CDK assumes are those that the role for CI may assume', async () => {
    const files = (await readdir(directory)).filter(
      (name) => name === 'manifest.json' || name.endsWith('.assets.json'),
    );
    const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
    const roles = texts.flatMap((text) =>
      [...text.matchAll(/"assumeRoleArn": ".*?:role\/(.*?)"/g)].map(([, name]) => name),
    );
    expect(roles.length).toBeGreaterThan(5);
    const [may] = CI_POLICIES['sts:AssumeRole'] ?? [];
    const beginning = /:role\/(.*)\*$/.exec(String(may?.Resource))?.[1];
    expect(roles.filter((name) => !name?.startsWith(String(beginning)))).toEqual([]);
  });

  test('its lines for a new shell name the Region of the stage prod', () => {
    expect(shellLines(page)).toContain('export STAGE=prod');
    expect(shellLines(page)).toContain(`export AWS_REGION=${STAGES.prod.region}`);
  });

  test('its examples of settings can be synthesized', () => {
    const all = JSON.stringify(chosen.map(({ templates }) => templates));
    for (const { limits = {}, whoMayLogIn } of settings) {
      for (const [name, value] of Object.entries(limits)) expect(all).toContain(`"${name}":"${value}"`);
      if (typeof whoMayLogIn === 'object') expect(all).toContain(`"ALLOWED_EMAILS":"${whoMayLogIn.emails}"`);
    }
  });

  test('the stacks have the outputs of the guide, and no others except the one of the firewall', () => {
    const outputs = Object.entries(bySynth.templates).flatMap(([stack, { Outputs = {} }]) =>
      Object.keys(Outputs).map((name) => ({ name, stack: stack.split('-')[2] })),
    );
    const own = outputs.filter(({ name }) => name !== 'WebAclArn');
    const expected = Object.entries(OUTPUTS).map(([name, { stack }]) => ({ name, stack }));
    expect(new Set(own.map((output) => JSON.stringify(output)))).toEqual(
      new Set(expected.map((output) => JSON.stringify(output))),
    );
  });

  test('fixed names of log groups are those of the guide, and generated names of others begin as in the guide', () => {
    const groups = Object.values(bySynth.templates).flatMap((template) =>
      resourcesOf(template, 'AWS::Logs::LogGroup').map(({ Properties }) => Properties?.LogGroupName),
    );
    const fixed = [...pageOfProd.matchAll(/`(FileHosting-prod-[a-z][\w.]+)`/g)].map(([, name]) => name);
    expect(fixed.length).toBeGreaterThan(3);
    expect(groups).toEqual(expect.arrayContaining(fixed));
    const named = [...pageOfProd.matchAll(/\bFileHosting-prod-([A-Z]\w+)-(\w+)…/g)];
    expect(named).not.toEqual([]);
    for (const [, stack, beginning = ''] of named) {
      const { Resources } = bySynth.templates[`FileHosting-prod-${stack}`] as Template;
      const ids = Object.keys(Resources).filter((id) => id.startsWith(beginning));
      expect([beginning, ids.length]).not.toEqual([beginning, 0]);
    }
    const types = ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::IAM::Role'];
    const properties = Object.values(bySynth.templates)
      .flatMap(({ Resources }) => Object.values(Resources))
      .filter(({ Type }) => types.includes(Type))
      .flatMap(({ Properties = {} }) => Object.keys(Properties));
    for (const name of ['TableName', 'BucketName', 'RoleName']) expect(properties).not.toContain(name);
  });

  test('the alarms have the names in the guide', () => {
    const { Resources } = bySynth.templates['FileHosting-prod-Operations'] as Template;
    const names = Object.values(Resources).map(({ Properties = {} }) => Properties.AlarmName);
    expect(page).toContain('the alarm `FailedEvents`');
    expect(page).toContain('--alarm-name-prefix "FileHosting-$STAGE-"');
    expect(names).toEqual(expect.arrayContaining(['FileHosting-prod-FailedEvents']));
  });

  test('the resources that prod keeps after its deletion are exactly those in the guide', () => {
    const kept = Object.values(bySynth.templates).flatMap(({ Resources }) =>
      Object.entries(Resources).flatMap(([id, { DeletionPolicy }]) =>
        DeletionPolicy?.startsWith('Retain') ? [id] : [],
      ),
    );
    const [, table = ''] = /\| Logical id \| What \| Costs \|\n.*\n((?: *\|.*\n)+)/.exec(page) ?? [];
    const listed = [...table.matchAll(/^ *\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    // A logical id ends in a hash of eight digits.
    expect(kept.map((id) => id.slice(0, -8)).sort()).toEqual(listed.sort());
  });
});
