import { expect, test } from 'vitest';
import { METRIC_NAMESPACE, METRICS } from '../../../shared/metrics.ts';
import { onlySynthesized, type Synthesized, synthesized } from '../../support/synthesized.ts';

interface AlarmProperties {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: unknown[];
  readonly OKActions?: unknown[];
  readonly TreatMissingData: string;
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: { Name: string; Value: unknown }[];
  readonly Metrics?: {
    MetricStat?: { Metric: { MetricName: string; Namespace: string; Dimensions: { Name: string; Value: unknown }[] } };
  }[];
}

const propertiesOf = ({ Properties }: Synthesized) => Properties as unknown as AlarmProperties;

const alarms = async () => (await synthesized('Operations', 'AWS::CloudWatch::Alarm')).map(propertiesOf);
const overFunctions = async () => propertiesOf(await onlySynthesized('Operations', 'AWS::CloudWatch::CompositeAlarm'));

/** Those that tell somebody. */
async function telling(): Promise<AlarmProperties[]> {
  return [...(await alarms()).filter(({ AlarmActions }) => AlarmActions), await overFunctions()];
}

test('the alarms that tell somebody are these', async () => {
  expect((await telling()).map(({ AlarmName }) => AlarmName.replace('FileHosting-dev-', '')).sort()).toEqual([
    'ApiLatency',
    'ApiServerErrors',
    'DatabaseReadThrottles',
    'DatabaseSystemErrors',
    'DatabaseWriteThrottles',
    'DirectUploadRequests',
    'FailedEvents',
    'Functions',
    'LoginFailures',
    'StreamingFailures',
    'StreamingSaturation',
    'SweeperFailures',
    'SweeperLag',
  ]);
});

test('each says what to look at first, and tells the topic when it begins and when it is over', async () => {
  const { logicalId } = await onlySynthesized('Operations', 'AWS::SNS::Topic');
  for (const alarm of await telling()) {
    expect(alarm.AlarmDescription).toMatch(/Look first at /);
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
    expect([alarm.AlarmActions, alarm.OKActions]).toEqual([[{ Ref: logicalId }], [{ Ref: logicalId }]]);
  }
});

test('every function has an alarm on its errors and throttles, and one alarm is over all of them', async () => {
  const functions = (await synthesized('Api', 'AWS::Lambda::Function')).map(({ logicalId }) => logicalId);
  const each = (await synthesized('Operations', 'AWS::CloudWatch::Alarm')).filter(({ logicalId }) =>
    /^AlarmsFunction/.test(logicalId),
  );
  expect(each).toHaveLength(functions.length);
  for (const fn of functions) {
    const ofFunction = each.filter((alarm) => JSON.stringify(alarm).includes(`Ref${fn}`));
    const names = ofFunction.flatMap((alarm) =>
      (propertiesOf(alarm).Metrics ?? []).flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? []),
    );
    // Its throttled events wait in the queue, as they should.
    const isQueued = fn.startsWith('SettleUpload');
    expect([fn, names]).toEqual([fn, isQueued ? ['Errors'] : ['Errors', 'Throttles']]);
  }
  const rule = JSON.stringify(await onlySynthesized('Operations', 'AWS::CloudWatch::CompositeAlarm'));
  expect(each.filter(({ logicalId }) => !rule.includes(logicalId))).toEqual([]);
});

test('silence is well everywhere but at the sweeper, which reports every minute', async () => {
  const bad = (await alarms()).filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching');
  expect(bad.map(({ AlarmName, TreatMissingData }) => [AlarmName, TreatMissingData])).toEqual([
    ['FileHosting-dev-SweeperLag', 'breaching'],
  ]);
});

test('no alarm adds more metrics than CloudWatch does', async () => {
  const counts = (await alarms()).map(({ Metrics = [] }) => Metrics.filter(({ MetricStat }) => MetricStat).length);
  expect(Math.max(...counts)).toBeLessThanOrEqual(10);
});

test('throttles are counted of every table, and of every index that counts apart', async () => {
  const tables = await synthesized('Data', 'AWS::DynamoDB::GlobalTable');
  const parts = tables.flatMap(({ logicalId, Properties }) => {
    const indexes = (Properties.GlobalSecondaryIndexes ?? []) as { IndexName: string }[];
    return [logicalId, ...indexes.map(({ IndexName }) => `${logicalId} ${IndexName}`)];
  });
  expect(parts.length).toBeGreaterThan(tables.length);
  for (const kind of ['Read', 'Write']) {
    const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith(`Database${kind}Throttles`));
    const counted = (alarm?.Metrics ?? []).flatMap(({ MetricStat }) => {
      if (!MetricStat) return [];
      const { MetricName, Dimensions } = MetricStat.Metric;
      expect(MetricName).toBe(`${kind}ThrottleEvents`);
      const of = (dimension: string) => JSON.stringify(Dimensions.find(({ Name }) => Name === dimension)?.Value ?? '');
      const table = tables.find(({ logicalId }) => of('TableName').includes(logicalId));
      return [`${table?.logicalId} ${JSON.parse(of('GlobalSecondaryIndexName'))}`.trim()];
    });
    expect(counted.toSorted()).toEqual(parts.toSorted());
  }
});

test('alarms on our own metrics name such as the functions write, of this stage', async () => {
  const own = (await alarms()).filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
  expect(own.map(({ MetricName, Dimensions }) => [MetricName, Dimensions])).toEqual(
    ['LoginFailures', 'StreamingFailures', 'StreamingPlaces', 'SweepLag', 'SweepFailures'].map((name) => [
      name,
      [{ Name: 'Stage', Value: 'dev' }],
    ]),
  );
  expect(own.filter(({ MetricName }) => !Object.hasOwn(METRICS, String(MetricName)))).toEqual([]);
});

test('the alarm on saturation begins at half of the places that the environments of the stage have', async () => {
  const revision = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionRevision');
  const endpoint = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionEndpoint');
  const { MaxConcurrencyPerEnvironment: each, EnvironmentVariables } = revision.Properties.ServiceConfig as {
    MaxConcurrencyPerEnvironment: number;
    EnvironmentVariables: Record<string, string>;
  };
  const { MaxEnvironments } = endpoint.Properties.ScalingConfig as { MaxEnvironments: number };
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('StreamingSaturation'));
  expect(alarm).toMatchObject({ Threshold: (each * MaxEnvironments) / 2, Statistic: 'Sum', Period: 60 });
  // What the server goes by is what Lambda goes by.
  expect(EnvironmentVariables.STREAMING_PLACES).toBe(String(each));
});

test('the PUTs of direct uploads are counted, and an alarm tells when they are more than accounts may begin', async () => {
  const buckets = await synthesized('Data', 'AWS::S3::Bucket');
  const [filter] = buckets.flatMap(({ Properties }) => (Properties.MetricsConfigurations ?? []) as { Id: string }[]);
  expect(filter).toEqual({ Id: 'incoming', Prefix: 'incoming/' });
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('DirectUploadRequests'));
  expect(alarm).toMatchObject({ Namespace: 'AWS/S3', MetricName: 'PutRequests', Threshold: 20 * 5 * 60 });
  expect(alarm?.Dimensions).toContainEqual({ Name: 'FilterId', Value: filter?.Id });
  expect(alarm?.Dimensions?.map(({ Name }) => Name)).toContain('BucketName');
});

test('alarms on the API go by a name that no other stage has', async () => {
  const api = await onlySynthesized('Api', 'AWS::ApiGateway::RestApi');
  const [latency] = (await alarms()).filter(({ AlarmName }) => AlarmName.endsWith('ApiLatency'));
  expect(latency?.Dimensions).toEqual([{ Name: 'ApiName', Value: api.Properties.Name }]);
  expect(api.Properties.Name).toBe('FileHosting-dev');
});

test('only CloudWatch for this account may tell the topic, over TLS, and nobody is subscribed unasked', async () => {
  const { logicalId } = await onlySynthesized('Operations', 'AWS::SNS::Topic');
  const policy = await onlySynthesized('Operations', 'AWS::SNS::TopicPolicy');
  const of = { Action: 'sns:Publish', Resource: { Ref: logicalId } };
  expect(policy.Properties.PolicyDocument).toMatchObject({
    Statement: [
      { ...of, Effect: 'Deny', Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        ...of,
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ],
  });
  expect(await synthesized('Operations', 'AWS::SNS::Subscription')).toEqual([]);
});

test('the dashboard shows what is well and who is hurting', async () => {
  const { Properties } = await onlySynthesized('Operations', 'AWS::CloudWatch::Dashboard');
  const titles = [...JSON.stringify(Properties.DashboardBody).matchAll(/\\"title\\":\\"(.*?)\\"/g)].map(
    ([, title]) => title,
  );
  expect(titles).toEqual([
    'Alarms',
    'Requests at the edge',
    'Errors at the edge, %',
    'Bytes from the edge',
    'Requests by status',
    'Latency of the API, ms',
    'Latency by route, p99, ms',
    'Uploads by lane',
    'Uploaded bytes by lane',
    'Streaming lane',
    'Rejections by code',
    'Refused by the limiter, by class',
    'Who is refused',
    'Sweeper lag, s',
    'Sweeper',
    'Failed events in the queue',
    'Errors and throttles by function',
    'Throttles by table and index',
  ]);
  expect(JSON.stringify(Properties.DashboardName)).toContain('"FileHosting-dev-",{"Ref":"AWS::Region"}');
});

test('the dashboard takes what it shows of the edge from the Region where CloudFront keeps it', async () => {
  const { Properties } = await onlySynthesized('Operations', 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(Properties.DashboardBody).replaceAll('\\', '');
  const edge = body.match(/\["AWS\/CloudFront".*?\}\]/g) ?? [];
  expect(edge).toHaveLength(8);
  for (const metric of edge) expect(metric).toContain('"region":"us-east-1"');
});
