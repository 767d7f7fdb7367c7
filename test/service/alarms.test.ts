import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { ALARMS, type AlarmName } from '../../infra/operations/alarm-list.ts';
import { TRAFFIC_PRICES } from '../../infra/operations/edge-alarms-stack.ts';
import type { Fault } from '../../local-aws/service.ts';
import { measure } from '../../shared/metrics.ts';
import {
  isAlarming,
  type MetricValue,
  metricsOf,
  type TemplateAlarm,
  templateAlarms,
  valuesInLog,
} from '../support/alarms.ts';
import { uploadStreaming } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { borrowTestService } from '../support/service.ts';
import { onlySynthesized, synthesized } from '../support/synthesized.ts';
import { withFault } from '../support/with-fault.ts';

/**
 * Each alarm of the template starts at its fault, and does not start without it. For our own metrics, the test causes the fault and takes
 * the values that the service writes. For the metrics that AWS writes, the test makes up values. Other tests compare the names and
 * dimensions of these metrics with AWS's documentation (test/infra/operations/published-metrics.ts).
 */

const MINUTE = 60_000;
/** The end of the last period. */
const NOW = Date.now();

const service = await borrowTestService();
const operator = operatorOf(service);
const alarms = new Map((await templateAlarms()).map((alarm) => [alarm.name, alarm]));
afterAll(async () => {
  operator.close();
  await service.close();
});

/** The values of our metric that the service logs during `act`. */
async function logged(metric: string, act: () => Promise<unknown>): Promise<MetricValue[]> {
  const start = service.logs.length;
  await act();
  // A function's log lines can arrive after its answer.
  const values = () => valuesInLog(service.logs.slice(start)).filter((value) => value.metric === metric);
  await expect.poll(() => values().length).toBeGreaterThan(0);
  return values();
}

/** Repeats values every `every` minutes during the last `last` minutes. */
function repeated(values: readonly MetricValue[], { every, last }: { every: number; last: number }): MetricValue[] {
  const times = Array.from({ length: last / every }, (_, index) => NOW - 1 - index * every * MINUTE);
  return times.flatMap((at) => values.map((value) => ({ ...value, at })));
}

/** Made-up values of metrics of AWS, with the dimensions of the alarm: one for each of the last `last` minutes. */
function ofAws(name: AlarmName, metrics: Readonly<Record<string, number>>, last: number): MetricValue[] {
  const queries = (alarms.get(name)?.all ?? []).flatMap(metricsOf);
  return Object.entries(metrics).flatMap(([metric, value]) => {
    const used = queries.filter(({ MetricName }) => MetricName === metric);
    if (used.length === 0) throw new Error(`${name} does not use ${metric}`);
    const distinct = new Map(used.map((query) => [JSON.stringify(query.Dimensions), query]));
    const values = [...distinct.values()].map(({ Namespace, Dimensions = [] }) => ({
      namespace: Namespace,
      metric,
      dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
      at: NOW,
      value,
    }));
    return repeated(values, { every: 1, last });
  });
}

/** The threshold of an alarm, by its template. The windows of a composite alarm have the same. */
const thresholdOf = (name: AlarmName) => alarms.get(name)?.all[0]?.Threshold ?? Number.NaN;

/** Values at which an alarm starts, and at which it does not. */
interface Driven {
  readonly starts: () => MetricValue[] | Promise<MetricValue[]>;
  readonly stays: () => MetricValue[] | Promise<MetricValue[]>;
}

const unknownFile = async () => (await service.newAccount()).byKey.request('GET', '/files/unknown');

/** A row without its name cannot be read. */
async function readBrokenRow(): Promise<void> {
  const { byKey, id: account } = await service.newAccount();
  const { body } = await byKey.upload('a.txt', 'hello');
  const row = { TableName: service.tables.files, Key: { account_id: { S: account }, id: { S: String(body.id) } } };
  await operator.dynamoDb.send(
    new UpdateItemCommand({ ...row, UpdateExpression: 'REMOVE #name', ExpressionAttributeNames: { '#name': 'name' } }),
  );
  expect(await byKey.request('GET', `/files/${body.id}`)).toMatchObject({ status: 500 });
  await operator.dynamoDb.send(new DeleteItemCommand(row));
}

async function failToLogIn(): Promise<void> {
  const request = rawRequest('GET /api/v1/auth/google', ['Sec-Fetch-Mode: navigate']);
  const fault: Fault = { match: { service: 'dynamodb' }, effect: 'error-before' };
  await withFault(service, fault, () => sendRaw(service.urls.root_url, request));
}

const stream = async () => uploadStreaming(await service.newAccount(), 'a.txt', 'hello');

async function failToStream(): Promise<void> {
  const account = await service.newAccount();
  const fault: Fault = { match: { service: 's3' }, effect: 'error-before' };
  await withFault(service, fault, () => uploadStreaming(account, 'a.txt', 'hello'));
}

async function runCanary(): Promise<unknown> {
  await operator.putCanaryKey((await service.newAccount()).key);
  return service.invoke('CanaryFunction', { time: '2026-01-01T00:30:00Z' });
}

/** Makes the upload of the canary fail. (A failing health check would not be noticed, because its result is cached for some seconds.) */
const failAsCanary = () =>
  withFault(service, { match: { service: 's3', operation: 'PutObject' }, effect: 'error-before' }, runCanary);

/** Deletes a file and then sweeps, while S3 refuses to delete objects. */
async function sweepUndeleted(): Promise<void> {
  const { byKey } = await service.newAccount();
  const { body } = await byKey.upload('a.txt', 'hello');
  const fault: Fault = { match: { service: 's3', operation: 'DeleteObject' }, effect: 'error-before' };
  await withFault(service, fault, async () => {
    await byKey.request('DELETE', `/files/${body.id}`);
    await operator.expireDeadlines();
    await operator.sweep();
  });
}

/** The record that a process of the streaming server writes after a minute (test/functions/upload-stream/places.test.ts). */
function placesTaken(StreamingPlaces: number): MetricValue[] {
  const lines: string[] = [];
  vi.stubEnv('STAGE', 'local');
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  measure({}, { StreamingPlaces });
  write.mockRestore();
  vi.unstubAllEnvs();
  return valuesInLog(lines);
}

/**
 * The values that the metric filter of the access log writes for one request. `type` is the type of response that the gateway answered
 * with.
 */
async function throttles(type: string, path = '/api/v1/files'): Promise<MetricValue[]> {
  const { Properties: stage } = await onlySynthesized('Api', 'AWS::ApiGateway::Stage');
  const filters = await synthesized('Api', 'AWS::Logs::MetricFilter');
  const { Format } = stage.AccessLogSetting as { Format: string };
  const text = Format.replace('$context.error.responseType', type)
    .replace('$context.httpMethod', 'GET')
    .replace('$context.resourcePath', path);
  const line = JSON.parse(text) as Record<string, string>;
  return filters.flatMap(({ Properties: { FilterPattern, MetricTransformations } }) => {
    const terms = [...String(FilterPattern).matchAll(/\$\.(\w+) = "([^"]+)"/g)];
    expect(terms.length).toBeGreaterThan(0);
    const isMet = ([, field = '', wanted = '']: RegExpExecArray) =>
      wanted.endsWith('*') ? line[field]?.startsWith(wanted.slice(0, -1)) : line[field] === wanted;
    if (!terms.every(isMet)) return [];
    const [made] = MetricTransformations as [{ MetricNamespace: string; MetricName: string; MetricValue: string }];
    const { MetricNamespace: namespace, MetricName: metric, MetricValue } = made;
    return [{ namespace, metric, dimensions: {}, at: NOW, value: Number(MetricValue) }];
  });
}

const nothing = () => [];

/** Requests in each minute of some hours; their failures are the percentage at which the alarm starts, or a little more or less. */
function apiErrors(name: 'ApiBudgetFast' | 'ApiBudgetSlow', hours: number, more: number): MetricValue[] {
  return ofAws(name, { '5XXError': thresholdOf(name) + more, Count: 100 }, 60 * hours);
}

/** Two failures, and so many uploads that the failures are just the share at which the alarm starts; or some uploads `more`. */
async function streamingFailures(more = 0): Promise<MetricValue[]> {
  const uploads = await logged('Uploads', stream);
  const most = Math.floor((2 * 100) / thresholdOf('StreamingFailures')) - 2;
  return [
    ...repeated(await logged('StreamingFailures', failToStream), { every: 15, last: 30 }),
    ...Array.from({ length: most + more }, () => repeated(uploads, { every: 1, last: 1 })).flat(),
  ];
}

/** Both distributions send bytes that cost the share of the threshold in an hour. */
function traffic(share: number): MetricValue[] {
  const BytesDownloaded = (share * thresholdOf('TrafficCost') * 1e9) / TRAFFIC_PRICES.gigabyte / 2 / 60;
  return ofAws('TrafficCost', { BytesDownloaded, Requests: 100 }, 60);
}

const DRIVEN: Readonly<Record<AlarmName, Driven>> = {
  InternalError: {
    starts: async () => repeated(await logged('Rejections', readBrokenRow), { every: 1, last: 1 }),
    stays: async () => repeated(await logged('Rejections', unknownFile), { every: 1, last: 1 }),
  },
  CanaryFailing: {
    starts: async () => repeated(await logged('CanaryFailures', failAsCanary), { every: 5, last: 10 }),
    stays: async () => repeated(await logged('CanaryFailures', () => runCanary()), { every: 5, last: 15 }),
  },
  ApiBudgetFast: {
    starts: () => apiErrors('ApiBudgetFast', 1, 0.1),
    stays: () => apiErrors('ApiBudgetFast', 1, -0.1),
  },
  ApiBudgetSlow: {
    starts: () => apiErrors('ApiBudgetSlow', 6, 0.1),
    stays: () => apiErrors('ApiBudgetSlow', 6, -0.1),
  },
  LoginFailures: {
    starts: async () => [
      ...repeated(await logged('LoginFailures', failToLogIn), { every: 15, last: 30 }),
      ...ofAws('LoginFailures', { Invocations: 1 }, 2),
    ],
    stays: async () => [
      ...repeated(await logged('LoginFailures', failToLogIn), { every: 30, last: 30 }),
      ...ofAws('LoginFailures', { Invocations: 1 }, 1),
    ],
  },
  StreamingFailures: {
    starts: () => streamingFailures(),
    stays: () => streamingFailures(1),
  },
  CdnServerErrors: {
    starts: () => ofAws('CdnServerErrors', { '5xxErrorRate': thresholdOf('CdnServerErrors') + 0.1 }, 60),
    stays: () => ofAws('CdnServerErrors', { '5xxErrorRate': thresholdOf('CdnServerErrors') - 0.1 }, 60),
  },
  StreamingSaturation: {
    starts: () => repeated(placesTaken(thresholdOf('StreamingSaturation')), { every: 1, last: 3 }),
    stays: () => repeated(placesTaken(thresholdOf('StreamingSaturation') - 1), { every: 1, last: 5 }),
  },
  Concurrency: {
    starts: () => ofAws('Concurrency', { ClaimedAccountConcurrency: thresholdOf('Concurrency') }, 3),
    stays: () => ofAws('Concurrency', { ClaimedAccountConcurrency: thresholdOf('Concurrency') - 1 }, 5),
  },
  GatewayThrottles: {
    starts: async () => repeated(await throttles('THROTTLED'), { every: 5, last: 10 }),
    stays: async () => repeated(await throttles('ACCESS_DENIED'), { every: 5, last: 10 }),
  },
  LoginThrottles: {
    starts: async () => repeated(await throttles('THROTTLED', '/api/v1/auth/google/callback'), { every: 1, last: 3 }),
    stays: async () => repeated(await throttles('THROTTLED'), { every: 1, last: 5 }),
  },
  FailedEvents: {
    starts: () => ofAws('FailedEvents', { ApproximateNumberOfMessagesVisible: 1 }, 5),
    stays: () => ofAws('FailedEvents', { ApproximateNumberOfMessagesVisible: 0 }, 5),
  },
  SweeperLag: {
    // A sweeper that does not run, or fails, writes nothing.
    starts: nothing,
    stays: async () => repeated(await logged('SweepLag', () => operator.sweep()), { every: 1, last: 15 }),
  },
  SweeperFailures: {
    starts: async () => repeated(await logged('SweepFailures', sweepUndeleted), { every: 5, last: 30 }),
    stays: async () => repeated(await logged('SweepFailures', sweepUndeleted), { every: 5, last: 15 }),
  },
  DirectUploadRequests: {
    starts: () =>
      ofAws('DirectUploadRequests', { PutRequests: Math.ceil(thresholdOf('DirectUploadRequests') / 5) }, 10),
    stays: () =>
      ofAws('DirectUploadRequests', { PutRequests: Math.ceil(thresholdOf('DirectUploadRequests') / 5) - 1 }, 10),
  },
  TrafficCost: {
    starts: () => traffic(1),
    stays: () => traffic(0.9),
  },
};

test('the templates have exactly the alarms of the list, and this file tests each of them', () => {
  expect([...alarms.keys()].toSorted()).toEqual(Object.keys(ALARMS).toSorted());
});

describe.each(Object.entries(DRIVEN))('the alarm %s', (name, { starts, stays }) => {
  const isStarted = (values: readonly MetricValue[]) => isAlarming(alarms.get(name) as TemplateAlarm, values, NOW);

  test('starts at its fault', async () => {
    expect(isStarted(await starts())).toBe(true);
  });

  test('does not start without the fault, or with a smaller one', async () => {
    expect(isStarted(await stays())).toBe(false);
  });
});

test('when all data is missing, only those alarms start whose metrics are written even without traffic', () => {
  const started = [...alarms.values()].filter((alarm) => isAlarming(alarm, [], NOW)).map(({ name }) => name);
  expect(started.toSorted()).toEqual(['CanaryFailing', 'SweeperLag']);
});

describe('the error budget, at 40 requests an hour, fewer than the canary alone sends:', () => {
  /** The metrics of two requests in every three minutes. `hasFailed` says for each request, by its age in minutes, whether it failed. */
  function requests(name: 'ApiBudgetFast' | 'ApiBudgetSlow', hasFailed: (minutesAgo: number) => boolean) {
    return ofAws(name, { '5XXError': 1, Count: 1 }, 360).filter(({ at, metric }) => {
      const minutesAgo = Math.round((NOW - 1 - at) / MINUTE);
      return minutesAgo % 3 !== 2 && (metric === 'Count' || hasFailed(minutesAgo));
    });
  }
  const isStarted = (name: 'ApiBudgetFast' | 'ApiBudgetSlow', hasFailed: (minutesAgo: number) => boolean) =>
    isAlarming(alarms.get(name) as TemplateAlarm, requests(name, hasFailed), NOW);

  test.each<[string, (minutesAgo: number) => boolean, fast: boolean, slow: boolean]>([
    ['one failure, just now', (ago) => ago === 0, false, false],
    ['an outage of five minutes', (ago) => ago < 5, true, false],
    ['an outage of twenty minutes that has ended', (ago) => ago >= 30 && ago < 50, false, false],
    ['two failures an hour', (ago) => ago % 30 === 0, false, true],
  ])('only the right alarms start: %s', (_what, hasFailed, fast, slow) => {
    expect([isStarted('ApiBudgetFast', hasFailed), isStarted('ApiBudgetSlow', hasFailed)]).toEqual([fast, slow]);
  });
});
