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

/** The alarms that publish to the topic. */
async function publishingAlarms(): Promise<AlarmProperties[]> {
  return [...(await alarms()).filter(({ AlarmActions }) => AlarmActions), await overFunctions()];
}

test('these alarms publish to the topic', async () => {
  expect((await publishingAlarms()).map(({ AlarmName }) => AlarmName.replace('FileHosting-local-', '')).sort()).toEqual(
    [
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
    ],
  );
});

test('each alarm describes what to look at first, and publishes when it starts and when it ends', async () => {
  const { logicalId } = await onlySynthesized('Operations', 'AWS::SNS::Topic');
  for (const alarm of await publishingAlarms()) {
    expect(alarm.AlarmDescription).toMatch(/Look first at /);
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
    expect([alarm.AlarmActions, alarm.OKActions]).toEqual([[{ Ref: logicalId }], [{ Ref: logicalId }]]);
  }
});

test('every function has an alarm on its errors and throttles, and one composite alarm covers all of them', async () => {
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
    // Throttled events of this function wait in Lambda's queue, which is harmless.
    const isQueued = fn.startsWith('CompleteArrivedUpload');
    expect([fn, names]).toEqual([fn, isQueued ? ['Errors'] : ['Errors', 'Throttles']]);
  }
  const rule = JSON.stringify(await onlySynthesized('Operations', 'AWS::CloudWatch::CompositeAlarm'));
  expect(each.filter(({ logicalId }) => !rule.includes(logicalId))).toEqual([]);
});

test('missing data starts only the alarm on the sweeper, which reports every minute', async () => {
  const bad = (await alarms()).filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching');
  expect(bad.map(({ AlarmName, TreatMissingData }) => [AlarmName, TreatMissingData])).toEqual([
    ['FileHosting-local-SweeperLag', 'breaching'],
  ]);
});

test('no alarm adds more than ten metrics, which is the limit of CloudWatch', async () => {
  const counts = (await alarms()).map(({ Metrics = [] }) => Metrics.filter(({ MetricStat }) => MetricStat).length);
  expect(Math.max(...counts)).toBeLessThanOrEqual(10);
});

test('the throttle alarms cover every table and every global index', async () => {
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
      // Stacks refer to a table by an output that is named after it, without the hash of its logical id.
      const table = tables.find(({ logicalId }) => of('TableName').includes(`Published${logicalId.slice(0, -8)}"`));
      return [`${table?.logicalId} ${JSON.parse(of('GlobalSecondaryIndexName'))}`.trim()];
    });
    expect(counted.toSorted()).toEqual(parts.toSorted());
  }
});

test('the alarms on our own metrics use metrics that the functions write, with this stage as dimension', async () => {
  const own = (await alarms()).filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
  expect(own.map(({ MetricName, Dimensions }) => [MetricName, Dimensions])).toEqual(
    ['LoginFailures', 'StreamingFailures', 'StreamingPlaces', 'SweepLag', 'SweepFailures'].map((name) => [
      name,
      [{ Name: 'Stage', Value: 'local' }],
    ]),
  );
  expect(own.filter(({ MetricName }) => !Object.hasOwn(METRICS, String(MetricName)))).toEqual([]);
});

test('the alarm on saturation starts at half of the places of all environments', async () => {
  const revision = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionRevision');
  const endpoint = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionEndpoint');
  const { MaxConcurrencyPerEnvironment: each, EnvironmentVariables } = revision.Properties.ServiceConfig as {
    MaxConcurrencyPerEnvironment: number;
    EnvironmentVariables: Record<string, string>;
  };
  const { MaxEnvironments } = endpoint.Properties.ScalingConfig as { MaxEnvironments: number };
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('StreamingSaturation'));
  expect(alarm).toMatchObject({ Threshold: (each * MaxEnvironments) / 2, Statistic: 'Sum', Period: 60 });
  // The server's own number of places is Lambda's.
  expect(EnvironmentVariables.STREAMING_PLACES).toBe(String(each));
});

test('an alarm counts the PUTs of direct uploads, and starts when there are more than accounts may send', async () => {
  const buckets = await synthesized('Data', 'AWS::S3::Bucket');
  const [filter] = buckets.flatMap(({ Properties }) => (Properties.MetricsConfigurations ?? []) as { Id: string }[]);
  expect(filter).toEqual({ Id: 'incoming', Prefix: 'incoming/' });
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('DirectUploadRequests'));
  expect(alarm).toMatchObject({ Namespace: 'AWS/S3', MetricName: 'PutRequests', Threshold: 20 * 5 * 60 });
  expect(alarm?.Dimensions).toContainEqual({ Name: 'FilterId', Value: filter?.Id });
  expect(alarm?.Dimensions?.map(({ Name }) => Name)).toContain('BucketName');
});

test('the alarms on the API use a gateway name that no other stage has', async () => {
  const api = await onlySynthesized('Api', 'AWS::ApiGateway::RestApi');
  const [latency] = (await alarms()).filter(({ AlarmName }) => AlarmName.endsWith('ApiLatency'));
  expect(latency?.Dimensions).toEqual([{ Name: 'ApiName', Value: api.Properties.Name }]);
  expect(api.Properties.Name).toBe('FileHosting-local');
});

test('only CloudWatch of this account may publish to the topic, over TLS, and there is no default subscription', async () => {
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

test('the dashboard has these widgets', async () => {
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
  expect(JSON.stringify(Properties.DashboardName)).toContain('"FileHosting-local-",{"Ref":"AWS::Region"}');
});

test("the dashboard reads CloudFront's metrics from us-east-1", async () => {
  const { Properties } = await onlySynthesized('Operations', 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(Properties.DashboardBody).replaceAll('\\', '');
  const edge = body.match(/\["AWS\/CloudFront".*?\}\]/g) ?? [];
  expect(edge).toHaveLength(8);
  for (const metric of edge) expect(metric).toContain('"region":"us-east-1"');
});
