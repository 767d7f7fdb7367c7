import { expect, test } from 'vitest';
import { ROUTES } from '../../../functions/routes.ts';
import { methodsOf } from '../../../shared/contract/route.ts';
import type { Route } from '../../../shared/route.ts';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';

const stage = () => onlySynthesized('Api', 'AWS::ApiGateway::Stage');

interface MethodSetting {
  readonly HttpMethod: string;
  readonly ResourcePath: string;
  readonly DataTraceEnabled: boolean;
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}
const methodSettings = async () => (await stage()).Properties.MethodSettings as MethodSetting[];

/** The number of functions that an AWS account runs at once by default. */
const CONCURRENCY = 1_000;

test('each route has a throttle of its own, and all other methods have the default one', async () => {
  const found = (await methodSettings()).map(({ HttpMethod, ResourcePath }) => `${HttpMethod} ${ResourcePath}`);
  const routes = Object.values<Route>(ROUTES).flatMap((route) =>
    methodsOf(route).map((method) => `${method} /${route.path.replaceAll('/', '~1')}`),
  );
  expect(found).toEqual(['* /*', ...routes]);
});

test('a flood of one route leaves two thirds of the concurrency when every answer takes a second', async () => {
  for (const setting of await methodSettings()) {
    expect(setting.ThrottlingRateLimit).toBeGreaterThan(0);
    expect(setting.ThrottlingRateLimit).toBeLessThan(CONCURRENCY / 3);
    expect(setting.ThrottlingBurstLimit).toBeLessThan(CONCURRENCY / 3);
    // Bodies and headers are not logged.
    expect(setting.DataTraceEnabled).toBe(false);
  }
});

test('uploads, lists and logins together leave room for the rest', async () => {
  const busiest = (await methodSettings()).filter(({ HttpMethod, ResourcePath }) =>
    /^(POST|GET) .*~1(files|google|callback)$/.test(`${HttpMethod} ${ResourcePath}`),
  );
  expect(busiest).toHaveLength(4);
  expect(busiest.reduce((sum, { ThrottlingRateLimit }) => sum + ThrottlingRateLimit, 0)).toBeLessThan(CONCURRENCY);
});

test('every method, even of unknown routes, requires the key that only CloudFront sends', async () => {
  const methods = await synthesized('Api', 'AWS::ApiGateway::Method');
  expect(methods.length).toBeGreaterThan(30);
  expect(methods.filter(({ Properties }) => Properties.ApiKeyRequired !== true)).toEqual([]);
  const key = await onlySynthesized('Edge', 'AWS::ApiGateway::ApiKey');
  // This is a reference, so no template has the value.
  expect(JSON.stringify(key.Properties.Value)).toContain('{{resolve:secretsmanager:');
  const plan = await onlySynthesized('Edge', 'AWS::ApiGateway::UsagePlan');
  expect(plan.Properties).toEqual({ ApiStages: [{ ApiId: { Ref: 'SharedRestApiId' }, Stage: 'live' }] });
});

test("the role of the AWS account's access logs is kept when the stage that set it is deleted", async () => {
  const account = await onlySynthesized('Api', 'AWS::ApiGateway::Account');
  const { CloudWatchRoleArn } = account.Properties as { CloudWatchRoleArn: { 'Fn::GetAtt': [string, string] } };
  const [logicalId] = CloudWatchRoleArn['Fn::GetAtt'];
  const role = (await synthesized('Api', 'AWS::IAM::Role')).find((candidate) => candidate.logicalId === logicalId);
  expect(account).toMatchObject({ DeletionPolicy: 'Retain' });
  expect(role).toMatchObject({ DeletionPolicy: 'Retain' });
  // The stage cannot be created before the role.
  expect(await stage()).toMatchObject({ DependsOn: [account.logicalId] });
});
