import { beforeAll, describe, expect, inject, test } from 'vitest';
import { ROUTES } from '../../../functions/routes.ts';
import { loadAssembly, type Template, type TemplateResource } from '../../../local-aws/template/assembly.ts';
import { synthesizeStage, templatesOf } from '../../support/synthesize-stage.ts';

/** How functions get to their new versions: aliases, deployment groups, and the alarms and the check that take a version back. */

type Templates = Readonly<Record<string, Template>>;
/** The functions that are moved step by step. */
const MOVED = [...Object.keys(ROUTES), 'unknownRoute', 'completeArrivedUpload'].toSorted();

const idOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;
const ofType = (template: Template | undefined, type: string): [logicalId: string, resource: TemplateResource][] =>
  Object.entries(template?.Resources ?? {}).filter(([, { Type }]) => Type === type);
/** The logical id of a reference. */
const refOf = (value: unknown) =>
  /"Ref":"(\w+)"|"Fn::GetAtt":\["(\w+)"/.exec(JSON.stringify(value))?.slice(1).find(Boolean);
// biome-ignore lint/suspicious/noExplicitAny: properties of many types, as the template has them
const propertiesOf = ([, { Properties }]: [string, TemplateResource]): any => Properties;

let [prod, dev, small]: [Templates, Templates, Templates] = [{}, {}, {}];
beforeAll(async () => {
  prod = await templatesOf('prod');
  dev = await templatesOf('dev');
  small = await templatesOf('prod', {
    reservesConcurrency: false,
    alarmEmails: { page: ['night@example.com'], ticket: [] },
    limits: { RATE_LIMIT_LISTS_PER_MINUTE: 7 },
  });
});

test('the gateway, and the event of a direct upload, call aliases, and may call nothing else', () => {
  const aliases = ofType(prod.Api, 'AWS::Lambda::Alias').map(([id]) => id);
  expect(aliases).toHaveLength(MOVED.length);
  const methods = ofType(prod.Api, 'AWS::ApiGateway::Method').map(propertiesOf);
  const called = methods.map(({ Integration }) => /"Ref":"(\w+Live\w+)"/.exec(JSON.stringify(Integration.Uri))?.[1]);
  expect(methods.length).toBeGreaterThan(20);
  expect(called.filter((id) => !aliases.includes(String(id)))).toEqual([]);
  const permissions = ofType(prod.Api, 'AWS::Lambda::Permission').map(propertiesOf);
  const unqualified = permissions
    .map(({ FunctionName }) => refOf(FunctionName))
    .filter((id) => !aliases.includes(String(id)));
  expect(unqualified).toEqual([expect.stringMatching(/^SweepFunction/)]);
  const targets = ofType(prod.Api, 'AWS::Events::Rule').map(([id, { Properties }]) => [
    id.slice(0, -8),
    refOf(Properties?.Targets),
  ]);
  expect(targets).toEqual([
    ['UploadArrived', expect.stringMatching(/^CompleteArrivedUploadFunctionLive/)],
    ['EveryMinute', expect.stringMatching(/^SweepFunction/)],
  ]);
});

describe.each([
  ['prod', () => prod, ['InternalError', 'CanaryFailing'], true],
  ['dev, which has no canary,', () => dev, ['InternalError'], false],
  ['prod of an account that may run ten functions at once', () => small, ['InternalError', 'CanaryFailing'], false],
] as const)('in the stage %s', (_stage, templates, alarms, isChecked) => {
  test('each alias leads to the version of its function, and is moved by a deployment group of its own', () => {
    const { Api } = templates();
    const groups = new Map(ofType(Api, 'AWS::CodeDeploy::DeploymentGroup'));
    expect([...groups.values()].map(({ Properties }) => Properties?.DeploymentGroupName).toSorted()).toEqual(MOVED);
    const [[application]] = ofType(Api, 'AWS::CodeDeploy::Application') as [[string, TemplateResource]];
    const [[hook] = []] = ofType(Api, 'AWS::Lambda::Function').filter(([id]) => id.startsWith('CheckDeployment'));
    for (const [id, alias] of ofType(Api, 'AWS::Lambda::Alias')) {
      const fn = refOf(alias.Properties?.FunctionName);
      const version = refOf(alias.Properties?.FunctionVersion) ?? '';
      expect(refOf(Api?.Resources[version]?.Properties?.FunctionName)).toBe(fn);
      const { CodeDeployLambdaAliasUpdate: update } = alias.UpdatePolicy as Record<string, Record<string, unknown>>;
      const group = refOf(update?.DeploymentGroupName) ?? '';
      expect(id).toMatch(
        new RegExp(`^${idOf(String(groups.get(group)?.Properties?.DeploymentGroupName))}FunctionLive`),
      );
      expect(update).toEqual({
        ApplicationName: { Ref: application },
        DeploymentGroupName: { Ref: group },
        ...(isChecked && { AfterAllowTrafficHook: { Ref: hook } }),
      });
      // Because of this dependency, a deployment first changes the group and the check, and then moves the alias by the new ones.
      expect(alias.DependsOn).toEqual(expect.arrayContaining([group, ...(isChecked ? [hook] : [])]));
    }
  });

  test('each deployment group first moves a tenth of the requests, and takes the version back when the deployment fails or an alarm starts', async () => {
    const { Api, Alarms } = templates();
    const made = ofType(Alarms, 'AWS::CloudWatch::Alarm');
    expect(made.map(([id]) => id.slice(0, -8))).toEqual(alarms);
    for (const group of ofType(Api, 'AWS::CodeDeploy::DeploymentGroup').map(propertiesOf)) {
      const { Enabled, Alarms: watched, ...others } = group.AlarmConfiguration;
      expect([Enabled, others]).toEqual([true, {}]);
      const outputs = (watched as { Name: unknown }[]).map(({ Name }) => JSON.stringify(Name));
      expect(outputs).toEqual(made.map(([id]) => expect.stringMatching(`-Alarms.*PublishOutputRef${id}`)));
      expect(group.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
      });
      expect(group.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes');
    }
  });
});

test('the commit is noted in the stack of the functions, so that a rollback of the functions also takes back the commit', () => {
  const noted = (template: Template | undefined) => ofType(template, 'AWS::SSM::Parameter').map(propertiesOf);
  expect(noted(prod.Api)).toEqual([
    expect.objectContaining({
      Name: '/file-hosting/prod/commit',
      Value: expect.stringMatching(/^([0-9a-f]{40}|unknown)$/),
    }),
  ]);
  const settings = noted(prod.Data).find(({ Name }) => Name === '/file-hosting/prod/settings');
  expect(JSON.parse(settings.Value)).not.toHaveProperty('commit');
});

test('CodeDeploy may move the aliases of these functions, call the check, and read alarms', () => {
  const functions = ofType(prod.Api, 'AWS::Lambda::Function').map(([id]) => id);
  const idsOf = (names: readonly string[]) =>
    names.map((name) => functions.find((id) => id.startsWith(`${idOf(name)}Function`))).toSorted();
  const granted: Record<string, unknown[]> = {};
  for (const { Action, Resource } of statementsOf('DeploymentsRoleDefaultPolicy')) {
    for (const action of [Action].flat()) granted[action] = [...(granted[action] ?? []), ...[Resource].flat()];
  }
  const alarms = JSON.stringify(granted['cloudwatch:DescribeAlarms']);
  delete granted['cloudwatch:DescribeAlarms'];
  expect(alarms).toContain(':alarm:*');
  const named = Object.entries(granted).map(([action, resources]) => [action, resources.map(refOf).toSorted()]);
  expect(Object.fromEntries(named)).toEqual({
    'lambda:GetAlias': idsOf(MOVED),
    'lambda:UpdateAlias': idsOf(MOVED),
    'lambda:GetProvisionedConcurrencyConfig': idsOf(MOVED),
    'lambda:InvokeFunction': idsOf(['checkDeployment']),
  });
});

test('the check may report to each deployment group, and to no other', () => {
  const reports = statementsOf('CheckDeploymentRoleDefaultPolicy').filter(({ Action }) =>
    [Action].flat().includes('codedeploy:PutLifecycleEventHookExecutionStatus'),
  );
  const groups = reports.flatMap(({ Resource }) =>
    [Resource].flat().map((arn) => /\/(\w+)"\]\]/.exec(JSON.stringify(arn))?.[1]),
  );
  expect(groups.toSorted()).toEqual(MOVED);
});

function statementsOf(policy: string): { Action: string | string[]; Resource: unknown }[] {
  const [found] = ofType(prod.Api, 'AWS::IAM::Policy').filter(([id]) => id.startsWith(policy));
  return propertiesOf(found as [string, TemplateResource]).PolicyDocument.Statement;
}

describe('a deployment', () => {
  /** The stack as it is synthesized to ignore alarms, with a restored table that is not imported yet. */
  let ignoring: Template | undefined;
  beforeAll(async () => {
    const restoredTables = { files: 'FileHosting-prod-files-1' };
    const { templates, remove } = await synthesizeStage('prod', { restoredTables }, { CDK_IGNORES_ALARMS: 'true' });
    await remove();
    ignoring = templates['FileHosting-prod-Api'];
  });

  const versionsOf = (template: Template | undefined) => ofType(template, 'AWS::Lambda::Version').map(([id]) => id);

  test('moves no function when nothing has changed, although another process synthesizes', async () => {
    const [{ templates: first }, again] = [await loadAssembly(inject('assembly')), await templatesOf('local')];
    expect(versionsOf(again.Api)).toEqual(versionsOf(first['FileHosting-local-Api']));
  });

  test('moves only the functions whose variables have changed, and none for other settings', () => {
    const published = versionsOf(small.Api).filter((id) => !versionsOf(prod.Api).includes(id));
    expect(published.map((id) => id.replace(/Function.*/, ''))).toEqual(['ListFiles']);
  });

  test('changes each function that gets a new version, also when a table name becomes a reference to the same table', () => {
    const descriptions = (template: Template | undefined) =>
      Object.fromEntries(
        ofType(template, 'AWS::Lambda::Function').map(([id, { Properties }]) => [id, Properties?.Description]),
      );
    const [before, after] = [descriptions(ignoring), descriptions(prod.Api)];
    const published = versionsOf(prod.Api).filter((id) => !versionsOf(ignoring).includes(id));
    expect(published.length).toBeGreaterThan(4);
    for (const version of published) {
      const fn = refOf(prod.Api?.Resources[version]?.Properties?.FunctionName) ?? '';
      expect(after[fn]).not.toBe(before[fn]);
    }
  });

  test('can ignore alarms, to fix their cause: then it moves all requests at once, and is still checked', () => {
    const groups = ofType(ignoring, 'AWS::CodeDeploy::DeploymentGroup').map(propertiesOf);
    expect(groups.length).toBeGreaterThan(0);
    for (const { AlarmConfiguration, DeploymentConfigName } of groups) {
      expect([AlarmConfiguration.Enabled, DeploymentConfigName]).toEqual([false, 'CodeDeployDefault.LambdaAllAtOnce']);
    }
    expect(JSON.stringify(ofType(ignoring, 'AWS::Lambda::Alias'))).toContain('AfterAllowTrafficHook');
  });
});
