import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { afterAll, describe, expect, test } from 'vitest';
import { createCodeDeploy } from '../../../local-aws/code-deploy/code-deploy.ts';
import { readDeploymentGroups } from '../../../local-aws/code-deploy/deployment-groups.ts';
import { readInvokeConfigs } from '../../../local-aws/events/async-invoker.ts';
import { readAliases } from '../../../local-aws/lambda/aliases.ts';
import { readFunctions } from '../../../local-aws/lambda/function-config.ts';
import { createLambdaService, readPermissions } from '../../../local-aws/lambda/lambda-service.ts';
import type { Template } from '../../../local-aws/template/assembly.ts';
import { ACCOUNT, deploy, lambdaFunction } from '../assembly-fixture.ts';
import { allow, frontOfFile, principal } from '../aws-front/front.ts';

type Resources = Template['Resources'];

/** A hook that only logs its event. The test reports the status in its place. */
const HOOK = 'exports.handler = async (event) => console.log(JSON.stringify(event))';

const GROUP = {
  ApplicationName: { Ref: 'App' },
  DeploymentGroupName: 'f',
  DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
  DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
  ServiceRoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
  AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: 'Alarm' } }] },
  AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE'] },
};
const UPDATE = {
  ApplicationName: { Ref: 'App' },
  DeploymentGroupName: { Ref: 'Group' },
  AfterAllowTrafficHook: { Ref: 'Hook' },
};
const TEMPLATE: Resources = {
  F: lambdaFunction('code', { FunctionName: 'f' }),
  Other: lambdaFunction('code', { FunctionName: 'other' }),
  Hook: lambdaFunction('hook', { FunctionName: 'hook' }),
  Version: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'F' } } },
  Alias: {
    Type: 'AWS::Lambda::Alias',
    Properties: {
      FunctionName: { Ref: 'F' },
      FunctionVersion: { 'Fn::GetAtt': ['Version', 'Version'] },
      Name: 'live',
    },
    UpdatePolicy: { CodeDeployLambdaAliasUpdate: UPDATE },
  },
  App: { Type: 'AWS::CodeDeploy::Application', Properties: { ApplicationName: 'app', ComputePlatform: 'Lambda' } },
  Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: 'errors' } },
  Role: {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {},
      Policies: [
        {
          PolicyName: 'p',
          PolicyDocument: allow('lambda:InvokeFunction', 'arn:aws:lambda:eu-west-1:111122223333:function:hook'),
        },
      ],
    },
  },
  Group: { Type: 'AWS::CodeDeploy::DeploymentGroup', Properties: GROUP },
};
const CODE = { code: { 'index.js': 'exports.handler = async () => "f"' }, hook: { 'index.js': HOOK } };

const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

async function start(changes: Resources = {}) {
  const deployment = await deploy({ ...TEMPLATE, ...changes }, CODE);
  const aliases = readAliases(deployment);
  const log: string[] = [];
  const lambda = createLambdaService({
    functions: readFunctions(deployment),
    aliases,
    mayInvoke: readPermissions(deployment),
    surroundings: { region: ACCOUNT.region, awsEndpoint: 'http://127.0.0.1:1' },
    onLog: ({ line }) => log.push(line),
  });
  closing.push(() => lambda.close());
  const groups = readDeploymentGroups(deployment, aliases);
  const codeDeploy = createCodeDeploy({ account: ACCOUNT, groups, aliases, lambda });
  return { deployment, aliases, lambda, codeDeploy, log };
}

/** The template with other properties, or another update policy, of one resource. */
const changed = (name: string, properties: object, updatePolicy?: Record<string, unknown>): Resources => {
  const resource = TEMPLATE[name] as Resources[string];
  return {
    [name]: {
      ...resource,
      Properties: { ...resource.Properties, ...properties },
      ...(updatePolicy && { UpdatePolicy: updatePolicy }),
    },
  };
};

const invoker = {
  principal: 'apigateway.amazonaws.com',
  sourceArn: 'arn:aws:execute-api:eu-west-1:111122223333:api/live/GET/files',
};
const permissionOn = (FunctionName: unknown): Resources => ({
  P: {
    Type: 'AWS::Lambda::Permission',
    Properties: { Action: 'lambda:InvokeFunction', FunctionName, Principal: invoker.principal },
  },
});

describe('an alias', () => {
  const FUNCTION = 'arn:aws:lambda:eu-west-1:111122223333:function:f';

  test('runs its function only for callers with a permission on the alias', async () => {
    const { lambda } = await start(permissionOn({ Ref: 'Alias' }));
    const payload = '{}';
    expect(await lambda.invoke({ functionArn: `${FUNCTION}:live`, payload, invoker })).toEqual({ payload: '"f"' });
    await expect(lambda.invoke({ functionArn: FUNCTION, payload, invoker })).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    const onFunction = await start(permissionOn({ 'Fn::GetAtt': ['F', 'Arn'] }));
    const byAlias = onFunction.lambda.invoke({ functionArn: `${FUNCTION}:live`, payload, invoker });
    await expect(byAlias).rejects.toMatchObject({ code: 'AccessDenied' });
  });

  test('is not found by another name', async () => {
    const { lambda } = await start();
    await expect(lambda.invoke({ functionArn: `${FUNCTION}:next`, payload: '{}' })).rejects.toMatchObject({
      code: 'ResourceNotFound',
    });
  });

  test('has retries of its own, which are not those of the function', async () => {
    const config = (Qualifier: string, MaximumRetryAttempts: number) => ({
      Type: 'AWS::Lambda::EventInvokeConfig',
      Properties: { FunctionName: { Ref: 'F' }, Qualifier, MaximumRetryAttempts },
    });
    const { deployment } = await start({ A: config('live', 1), B: config('$LATEST', 0) });
    const configs = readInvokeConfigs(deployment);
    expect([configs.get(`${FUNCTION}:live`)?.retries, configs.get(FUNCTION)?.retries]).toEqual([1, 0]);
  });

  test.each<[string, Resources, string]>([
    [
      'that points to the version of another function',
      changed('Alias', { FunctionName: 'other' }),
      'no version of other',
    ],
    ['of no function', changed('Alias', { FunctionName: 'none' }), 'there is no function none'],
    ['that splits its traffic', changed('Alias', { RoutingConfig: {} }), 'does not implement RoutingConfig'],
    [
      'with another update policy',
      changed('Alias', {}, { UseOnlineResharding: true }),
      'no CodeDeployLambdaAliasUpdate',
    ],
    [
      'whose deployment group is missing',
      changed('Alias', {}, { CodeDeployLambdaAliasUpdate: { ...UPDATE, DeploymentGroupName: 'none' } }),
      'there is no deployment group app/none',
    ],
    [
      'whose group names an alarm that does not exist',
      changed('Group', { AlarmConfiguration: { Alarms: [{ Name: 'none' }] } }),
      'no alarm none',
    ],
    [
      'whose group names a role that does not exist',
      changed('Group', { ServiceRoleArn: 'arn:none' }),
      'there is no role arn:none',
    ],
    ['whose group has an unknown property', changed('Group', { TriggerConfigurations: [] }), 'TriggerConfigurations'],
  ])('%s is an error', async (_what, changes, message) => {
    await expect(start(changes)).rejects.toThrow(message);
  });

  test('no other resource may have an update policy', async () => {
    const { F } = TEMPLATE;
    const changes = { F: { ...F, UpdatePolicy: {} } } as Resources;
    await expect(start(changes)).rejects.toThrow('does not implement UpdatePolicy of AWS::Lambda::Function');
  });
});

describe('a deployment', async () => {
  const { codeDeploy, log, lambda } = await start();
  const group = 'arn:aws:codedeploy:eu-west-1:111122223333:deploymentgroup:app/f';
  const actions = ['codedeploy:GetDeployment', 'codedeploy:PutLifecycleEventHookExecutionStatus'];
  const [hook, stranger] = [
    principal('hook', allow(actions, group)),
    principal('stranger', allow(actions, `${group}2`)),
  ];
  const front = await frontOfFile({ ...ACCOUNT, codeDeploy: codeDeploy.service, principals: [hook, stranger] });
  const client = (credentials = hook) =>
    new CodeDeployClient({ endpoint: front.endpoint, region: ACCOUNT.region, credentials, maxAttempts: 1 });

  /** Moves the alias. After the hook has logged its event, `act` does what a real hook would do. */
  async function deployWith(
    act: (ids: { deploymentId: string; lifecycleEventHookExecutionId: string }) => Promise<unknown>,
  ) {
    const seen = log.length;
    const invoke = lambda.invoke;
    lambda.invoke = async (request) => {
      const result = await invoke(request);
      await expect.poll(() => log.length).toBeGreaterThan(seen);
      const { DeploymentId, LifecycleEventHookExecutionId } = JSON.parse(log.at(-1) ?? '');
      await act({ deploymentId: DeploymentId, lifecycleEventHookExecutionId: LifecycleEventHookExecutionId });
      return result;
    };
    try {
      return await codeDeploy.deploy('f');
    } finally {
      lambda.invoke = invoke;
    }
  }

  test.each(['Succeeded', 'Failed'] as const)('ends as its hook reports: %s', async (status) => {
    const verdict = await deployWith(async (ids) => {
      const { deploymentInfo } = await client().send(new GetDeploymentCommand({ deploymentId: ids.deploymentId }));
      expect(deploymentInfo).toMatchObject({ applicationName: 'app', deploymentGroupName: 'f', creator: 'user' });
      await client().send(new PutLifecycleEventHookExecutionStatusCommand({ ...ids, status }));
      const again = client().send(new PutLifecycleEventHookExecutionStatusCommand({ ...ids, status }));
      await expect(again).rejects.toMatchObject({ name: 'LifecycleEventAlreadyCompletedException' });
    });
    expect(verdict).toBe(status);
  });

  test('fails when its hook reports no status, or has no permission to report', async () => {
    expect(await deployWith(async () => {})).toBe('Failed');
    const verdict = await deployWith(async (ids) => {
      const report = client(stranger).send(
        new PutLifecycleEventHookExecutionStatusCommand({ ...ids, status: 'Succeeded' }),
      );
      await expect(report).rejects.toMatchObject({ name: 'AccessDeniedException' });
    });
    expect(verdict).toBe('Failed');
  });

  test('fails when the role of its group may not invoke the hook', async () => {
    const other = await start(changed('Role', { Policies: [] }));
    expect(await other.codeDeploy.deploy('f')).toBe('Failed');
    expect(other.log).toEqual([]);
  });
});
