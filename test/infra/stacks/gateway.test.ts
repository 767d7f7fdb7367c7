import { expect, test } from 'vitest';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';

const stage = () => onlySynthesized('Api', 'AWS::ApiGateway::Stage');

test('every method of the gateway is throttled below the limits of an AWS account', async () => {
  const { MethodSettings } = (await stage()).Properties;
  expect(MethodSettings).toEqual([
    {
      HttpMethod: '*',
      ResourcePath: '/*',
      // Bodies and headers are not logged.
      DataTraceEnabled: false,
      ThrottlingRateLimit: 1_000,
      ThrottlingBurstLimit: 500,
    },
  ]);
});

test('every method, even of unknown routes, requires the key that only CloudFront sends', async () => {
  const methods = await synthesized('Api', 'AWS::ApiGateway::Method');
  expect(methods.length).toBeGreaterThan(30);
  expect(methods.filter(({ Properties }) => Properties.ApiKeyRequired !== true)).toEqual([]);
  const key = await onlySynthesized('Edge', 'AWS::ApiGateway::ApiKey');
  // A reference, so that the value is in no template.
  expect(JSON.stringify(key.Properties.Value)).toContain('{{resolve:secretsmanager:');
  const plan = await onlySynthesized('Edge', 'AWS::ApiGateway::UsagePlan');
  expect(plan.Properties).toEqual({ ApiStages: [expect.objectContaining({ Throttle: {} })] });
});

test('a line of the access log is JSON with request id and route, and nothing that a client sends', async () => {
  const { Format } = (await stage()).Properties.AccessLogSetting as { Format: string };
  expect(JSON.parse(Format)).toEqual({
    time: '$context.requestTimeEpoch',
    request_id: '$context.requestId',
    route: '$context.httpMethod $context.resourcePath',
    status: '$context.status',
    latency_ms: '$context.responseLatency',
    integration_status: '$context.integration.status',
    integration_latency_ms: '$context.integration.latency',
    response_bytes: '$context.responseLength',
    gateway_response: '$context.error.responseType',
  });
});

test('the access log is kept for a month', async () => {
  const { DestinationArn } = (await stage()).Properties.AccessLogSetting as { DestinationArn: unknown };
  const [log] = (await synthesized('Api', 'AWS::Logs::LogGroup')).filter(({ logicalId }) =>
    JSON.stringify(DestinationArn).includes(`{"Ref":"${logicalId}"}`),
  );
  expect(log?.Properties.RetentionInDays).toBe(30);
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
