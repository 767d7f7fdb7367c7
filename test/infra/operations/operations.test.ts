import { expect, test } from 'vitest';
import { ALARMS, type AlarmName, BUSY_ACCOUNTS, descriptionOf } from '../../../infra/operations/alarm-list.ts';
import { readLimits } from '../../../shared/contract/limits.ts';
import { METRIC_NAMESPACE, METRICS } from '../../../shared/metrics.ts';
import { type AlarmProperties, metricsOf } from '../../support/alarms.ts';
import { onlySynthesized, type Synthesized, synthesized } from '../../support/synthesized.ts';
import { PUBLISHED_METRICS } from './published-metrics.ts';

const propertiesOf = ({ Properties }: Synthesized) => Properties as unknown as AlarmProperties;

const alarmsOf = async (stack: string) => (await synthesized(stack, 'AWS::CloudWatch::Alarm')).map(propertiesOf);
/** The alarms of the Region of the service. */
const alarms = () => alarmsOf('Operations');

/** The alarms that notify a topic, each with its stack. */
async function notifyingAlarms(): Promise<[stack: string, AlarmProperties][]> {
  const all: [string, AlarmProperties][] = [];
  for (const stack of ['Operations', 'EdgeAlarms']) {
    const composite = (await synthesized(stack, 'AWS::CloudWatch::CompositeAlarm')).map(propertiesOf);
    for (const alarm of [...(await alarmsOf(stack)), ...composite]) if (alarm.AlarmActions) all.push([stack, alarm]);
  }
  return all;
}

test('each alarm notifies the topic of its urgency, when it starts and when it ends', async () => {
  const names: string[] = [];
  for (const [stack, alarm] of await notifyingAlarms()) {
    const name = alarm.AlarmName.replace('FileHosting-local-', '') as AlarmName;
    names.push(name);
    const id = { page: 'Pages', ticket: 'Tickets' }[ALARMS[name].urgency];
    const topic = (await synthesized(stack, 'AWS::SNS::Topic')).find(({ logicalId }) => logicalId.startsWith(id));
    const actions = [{ Ref: topic?.logicalId }];
    expect([name, alarm.AlarmActions, alarm.OKActions]).toEqual([name, actions, actions]);
    expect(alarm.AlarmDescription).toBe(descriptionOf(name));
    expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1_024);
  }
  expect(names.sort()).toEqual(Object.keys(ALARMS).sort());
});

test('only these alarms wake a person', () => {
  const names = Object.entries(ALARMS).flatMap(([name, { urgency }]) => (urgency === 'page' ? [name] : []));
  expect(names.sort()).toEqual([
    'ApiBudgetFast',
    'CanaryFailing',
    'CdnServerErrors',
    'InternalError',
    'LoginFailures',
    'LoginThrottles',
    'StreamingFailures',
  ]);
});

test("the metrics of AWS services that alarms use have the names and dimensions of AWS's documentation", async () => {
  for (const stack of ['Operations', 'EdgeAlarms']) {
    const metrics = (await alarmsOf(stack)).flatMap(metricsOf);
    for (const { Namespace = '', MetricName = '', Dimensions = [] } of metrics) {
      if (Namespace === METRIC_NAMESPACE) continue;
      const published = PUBLISHED_METRICS[Namespace]?.[MetricName]?.toSorted();
      expect([MetricName, Dimensions.map(({ Name }) => Name).toSorted()]).toEqual([MetricName, published]);
    }
  }
});

test('the alarms on our own metrics use metrics that the functions write, with this stage as dimension', async () => {
  const own = (await alarms()).flatMap(metricsOf).filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
  const written = own.filter(({ MetricName = '' }) => Object.hasOwn(METRICS, MetricName));
  for (const { Dimensions } of written) expect(Dimensions).toContainEqual({ Name: 'Stage', Value: 'local' });
  // The only other metrics are made from the access log of the gateway.
  expect(own.filter((metric) => !written.includes(metric)).map(({ MetricName }) => MetricName)).toEqual([
    'GatewayThrottles-local',
    'LoginThrottles-local',
  ]);
});

test('StreamingSaturation starts before so many places are taken in all environments that the server cuts uploads', async () => {
  const revision = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionRevision');
  const endpoint = await onlySynthesized('Streaming', 'AWS::Lambda::WebFunctionEndpoint');
  const { MaxConcurrencyPerEnvironment: each } = revision.Properties.ServiceConfig as {
    MaxConcurrencyPerEnvironment: number;
  };
  const { MaxEnvironments } = endpoint.Properties.ScalingConfig as { MaxEnvironments: number };
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('StreamingSaturation'));
  expect(alarm).toMatchObject({ Statistic: 'Sum', Period: 60 });
  const share = Number(alarm?.Threshold) / (each * MaxEnvironments);
  expect(share).toBeGreaterThan(0.25);
  expect(share).toBeLessThan(0.75);
});

test('DirectUploadRequests counts the PUTs of direct uploads, and starts when they are as many as the busy accounts together may send', async () => {
  const buckets = await synthesized('Data', 'AWS::S3::Bucket');
  const [filter] = buckets.flatMap(({ Properties }) => (Properties.MetricsConfigurations ?? []) as { Id: string }[]);
  expect(filter).toEqual({ Id: 'incoming', Prefix: 'incoming/' });
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName.endsWith('DirectUploadRequests'));
  const { RATE_LIMIT_UPLOADS_PER_MINUTE: perMinute } = readLimits({});
  expect(alarm).toMatchObject({
    Namespace: 'AWS/S3',
    MetricName: 'PutRequests',
    Threshold: BUSY_ACCOUNTS * 5 * perMinute,
  });
  expect(alarm?.Dimensions).toContainEqual({ Name: 'FilterId', Value: filter?.Id });
  expect(alarm?.Dimensions?.map(({ Name }) => Name)).toContain('BucketName');
});

test('the alarms on the API use a gateway name that no other stage has', async () => {
  const api = await onlySynthesized('Api', 'AWS::ApiGateway::RestApi');
  const ofApi = (await alarms()).flatMap(metricsOf).filter(({ Namespace }) => Namespace === 'AWS/ApiGateway');
  expect(ofApi).not.toEqual([]);
  for (const { Dimensions } of ofApi) expect(Dimensions).toEqual([{ Name: 'ApiName', Value: api.Properties.Name }]);
  expect(api.Properties.Name).toBe('FileHosting-local');
});

test('only CloudWatch of this account may publish to the topics, over TLS, and there is no default subscription', async () => {
  for (const stack of ['Operations', 'EdgeAlarms']) await expectClosedTopics(stack);
});

async function expectClosedTopics(stack: string): Promise<void> {
  const topics = await synthesized(stack, 'AWS::SNS::Topic');
  const policies = (await synthesized(stack, 'AWS::SNS::TopicPolicy')).map(({ Properties }) => Properties);
  expect([topics.length, policies.length]).toEqual([2, 2]);
  for (const { logicalId } of topics) {
    const of = { Action: 'sns:Publish', Resource: { Ref: logicalId } };
    const policy = policies.find(({ Topics }) => JSON.stringify(Topics) === JSON.stringify([{ Ref: logicalId }]));
    expect(policy?.PolicyDocument).toMatchObject({
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
  }
  expect(await synthesized(stack, 'AWS::SNS::Subscription')).toEqual([]);
}

test("the dashboard reads CloudFront's metrics from us-east-1", async () => {
  const { Properties } = await onlySynthesized('Operations', 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(Properties.DashboardBody).replaceAll('\\', '');
  const edge = body.match(/\["AWS\/CloudFront".*?\}\]/g) ?? [];
  expect(edge).toHaveLength(8);
  for (const metric of edge) expect(metric).toContain('"region":"us-east-1"');
});
