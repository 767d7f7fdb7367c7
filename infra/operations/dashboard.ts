import { Aws, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ROUTES } from '../../functions/routes.ts';
import { LANES, METRIC_NAMESPACE, type MetricName } from '../../shared/metrics.ts';
import type { Route } from '../../shared/route.ts';
import { fixedName } from '../settings/stage.ts';
import {
  directUploadRequests,
  edgeMetric,
  FIVE_MINUTES,
  failedEvents,
  functionMetric,
  serviceMetric,
  throttleMetrics,
  type Watched,
} from './watched.ts';

/** Adds the CloudWatch dashboard: the state of the alarms, and the metrics to look at when an alarm has started. */
export function addDashboard(
  scope: Construct,
  watched: Watched,
  alarms: readonly cloudwatch.AlarmBase[],
): cloudwatch.Dashboard {
  const dashboard = new cloudwatch.Dashboard(scope, 'Dashboard', {
    // Dashboard names are unique in an account over all Regions.
    dashboardName: `FileHosting-${watched.stage.name}-${Aws.REGION}`,
    defaultInterval: Duration.hours(6),
  });
  dashboard.addWidgets(
    new cloudwatch.AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 24, height: 3 }),
  );
  dashboard.addWidgets(...edge(scope, watched));
  dashboard.addWidgets(...requests(watched));
  dashboard.addWidgets(...uploads(scope, watched));
  dashboard.addWidgets(...refusals(scope, watched));
  dashboard.addWidgets(...background(watched));
  dashboard.addWidgets(...resources(scope, watched));
  return dashboard;
}

/** The traffic of both distributions: the API's answers, the dashboard's pages and all downloads. */
function edge(user: Construct, { distributionIds }: Watched): cloudwatch.IWidget[] {
  const each = (metricName: Parameters<typeof edgeMetric>[1], label = '') =>
    Object.entries(distributionIds).map(([name, id]) =>
      edgeMetric(id.in(user), metricName).with({ label: `${name}${label}` }),
    );
  return [
    graph('Requests at the edge', each('Requests')),
    graph('Errors at the edge, %', [...each('4xxErrorRate', ', 4xx'), ...each('5xxErrorRate', ', 5xx')]),
    graph('Bytes from the edge', each('BytesDownloaded')),
  ];
}

function requests({ api }: Watched): cloudwatch.IWidget[] {
  const sum = { period: FIVE_MINUTES, statistic: 'Sum' };
  const { restApi } = api;
  const routes = Object.entries(api.functions).filter(([name]) => Object.hasOwn(ROUTES, name));
  return [
    graph('Requests by status', [
      restApi.metricCount({ ...sum, label: 'all' }),
      restApi.metricClientError({ ...sum, label: '4xx' }),
      restApi.metricServerError({ ...sum, label: '5xx' }),
    ]),
    graph('Latency of the API, ms', [
      restApi.metricLatency({ period: FIVE_MINUTES, statistic: 'p50', label: 'p50' }),
      restApi.metricLatency({ period: FIVE_MINUTES, statistic: 'p99', label: 'p99' }),
    ]),
    // Each route has its own function, whose duration is a free metric; the gateway's metrics by route are not free.
    graph(
      'Latency by route, p99, ms',
      routes.map(([label, name]) => functionMetric(name, 'Duration', 'p99').with({ label })),
    ),
  ];
}

function uploads(user: Construct, watched: Watched): cloudwatch.IWidget[] {
  const byLane = (name: MetricName) =>
    LANES.map((Lane) => serviceMetric(watched.stage, name, { of: { Lane } }).with({ label: Lane }));
  return [
    graph('Uploads by lane', byLane('Uploads')),
    graph('Uploaded bytes by lane', byLane('UploadedBytes')),
    graph('PUTs of direct uploads, by S3', [
      directUploadRequests(user, watched).with({ label: 'all' }),
      directUploadRequests(user, watched, '4xxErrors').with({ label: '4xx' }),
      directUploadRequests(user, watched, '5xxErrors').with({ label: '5xx' }),
    ]),
    graph('Streaming lane', [
      serviceMetric(watched.stage, 'StreamingFailures').with({ label: 'failures' }),
      serviceMetric(watched.stage, 'StreamingPlaces', { period: Duration.minutes(1) }).with({ label: 'places taken' }),
      // Lambda's own metric of a Web Function. Only the namespace and this name are documented, so search all dimensions.
      ...(watched.streaming
        ? [
            search(
              'AWS/Lambda/Web',
              `MetricName="HTTPResponseStatusClass5XX" FunctionName="${watched.streaming.functionName}"`,
              '5xx by Lambda',
            ),
          ]
        : []),
    ]),
  ];
}

function refusals(user: Construct, watched: Watched): cloudwatch.IWidget[] {
  const stage = `Stage="${watched.stage.name}"`;
  const names = Object.values<Route>(ROUTES).map(({ name, isAudited }) =>
    isAudited ? watched.resources.auditLog.in(user) : fixedName(watched.stage.name, name),
  );
  const logGroupNames = [...new Set(names)];
  return [
    graph('Rejections by code', [search(`${METRIC_NAMESPACE},Stage,Code`, `MetricName="Rejections" ${stage}`)]),
    graph('Refused by the limiter, by class', [
      search(`${METRIC_NAMESPACE},Stage,RateClass`, `MetricName="RateLimited" ${stage}`),
    ]),
    // This covers only the functions behind the gateway: Lambda wraps the log lines of a Web Function in another record.
    new cloudwatch.LogQueryWidget({
      title: 'Who is refused',
      logGroupNames,
      view: cloudwatch.LogQueryVisualizationType.TABLE,
      queryLines: [
        'filter message = "request" and status >= 400 and ispresent(account_id)',
        'stats count(*) as refusals by account_id, code',
        'sort refusals desc',
        'limit 20',
      ],
      width: 8,
      height: 6,
    }),
  ];
}

function background(watched: Watched): cloudwatch.IWidget[] {
  return [
    graph('Failures of the canary', [serviceMetric(watched.stage, 'CanaryFailures', { statistic: 'Maximum' })]),
    graph('Sweeper lag, s', [serviceMetric(watched.stage, 'SweepLag', { statistic: 'Maximum' })]),
    graph('Sweeper', [
      serviceMetric(watched.stage, 'Swept').with({ label: 'rows finished' }),
      serviceMetric(watched.stage, 'SweepOrphans').with({ label: 'orphans removed' }),
      serviceMetric(watched.stage, 'SweepFailures').with({ label: 'failures' }),
    ]),
    graph('Failed events in the queue', [failedEvents(watched)]),
  ];
}

function resources(user: Construct, watched: Watched): cloudwatch.IWidget[] {
  const { api } = watched;
  const functions = Object.entries(api.functions);
  return [
    graph('Errors and throttles by function', [
      ...functions.map(([label, fn]) => functionMetric(fn, 'Errors').with({ label })),
      ...functions.map(([name, fn]) => functionMetric(fn, 'Throttles').with({ label: `${name} throttled` })),
    ]),
    graph(
      'Throttles by table and index',
      (['Read', 'Write'] as const).flatMap((kind) => throttleMetrics(user, watched, kind)),
    ),
  ];
}

function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ title, left, leftYAxis: { min: 0 }, width: 8, height: 6 });
}

/** Searches all metrics of a schema (a namespace, with or without dimensions) that match the terms. */
function search(schema: string, terms: string, label = ''): cloudwatch.MathExpression {
  const where = schema.includes(',') ? `{${schema}}` : `Namespace="${schema}"`;
  return new cloudwatch.MathExpression({
    expression: `SEARCH('${where} ${terms}', 'Sum', ${FIVE_MINUTES.toSeconds()})`,
    label,
    period: FIVE_MINUTES,
  });
}
