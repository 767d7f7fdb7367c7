import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE, type MetricDimensions, type MetricName } from '../../shared/metrics.ts';
import { TABLES, type TableDefinition, type TableName } from '../../shared/tables.ts';
import type { SharedResources } from '../constructs/needs.ts';
import { EDGE_REGION } from '../constructs/served-region.ts';
import type { SharedValue } from '../constructs/shared-value.ts';
import type { StageConfig } from '../settings/stage.ts';
import type { ApiStack } from '../stacks/api-stack.ts';
import { INCOMING_METRICS } from '../stacks/data-stack.ts';
import type { StreamingStack } from '../stacks/streaming-stack.ts';

/** The resources whose metrics the alarms and the dashboard use. */
export interface Watched {
  readonly stage: StageConfig;
  readonly resources: SharedResources;
  readonly api: ApiStack;
  /** Absent when streaming uploads are off. */
  readonly streaming: StreamingStack | undefined;
  readonly distributionIds: Readonly<Record<'app' | 'cdn', SharedValue>>;
}

/** The names of the log groups of the functions (except the canary), the gateway and the streaming server, and of the audit trail. */
export function serviceLogs(user: Construct, { resources, api, streaming }: Watched): string[] {
  return [...api.logGroups, resources.auditLog.in(user), ...(streaming ? [streaming.logGroupName] : [])];
}

export const FIVE_MINUTES = Duration.minutes(5);

/** A metric that the functions write (shared/metrics.ts). */
export function serviceMetric(
  stage: StageConfig,
  metricName: MetricName,
  { statistic = 'Sum', of = {}, period = FIVE_MINUTES }: ServiceMetricOptions = {},
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRIC_NAMESPACE,
    metricName,
    dimensionsMap: { Stage: stage.name, ...of },
    statistic,
    period,
  });
}

interface ServiceMetricOptions {
  readonly statistic?: 'Sum' | 'Maximum';
  readonly of?: MetricDimensions;
  readonly period?: Duration;
}

/** A metric that Lambda itself writes for a function. */
export function functionMetric(
  functionName: string,
  metricName: 'Invocations' | 'Errors' | 'Throttles' | 'Duration',
  statistic: 'Sum' | 'p99' = 'Sum',
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: functionName },
    statistic,
    period: FIVE_MINUTES,
  });
}

/** The number of events that wait in the queue of events that failed at every attempt. */
export function failedEvents({ api }: Watched): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/SQS',
    metricName: 'ApproximateNumberOfMessagesVisible',
    dimensionsMap: { QueueName: api.failedEvents },
    statistic: 'Maximum',
    period: FIVE_MINUTES,
  });
}

/** A metric of a distribution. Source: CloudFront, "Types of metrics for CloudFront". */
export function edgeMetric(
  distributionId: string,
  metricName: 'Requests' | 'BytesDownloaded' | '4xxErrorRate' | '5xxErrorRate',
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName.endsWith('Rate') ? 'Average' : 'Sum',
    period: FIVE_MINUTES,
    region: EDGE_REGION,
  });
}

/**
 * S3's own count of the PUTs of direct uploads: of all, or of those that it answered with 4xx or 5xx. Source: S3, "Metrics and dimensions".
 */
export function directUploadRequests(
  user: Construct,
  { resources }: Watched,
  metricName: 'PutRequests' | '4xxErrors' | '5xxErrors' = 'PutRequests',
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/S3',
    metricName,
    dimensionsMap: { BucketName: resources.uploads.in(user), FilterId: INCOMING_METRICS.id },
    statistic: 'Sum',
    period: FIVE_MINUTES,
  });
}

/**
 * How often DynamoDB throttled reads or writes, for each table and each of its global indexes. A throttled index also delays
 * the writes of its table.
 */
export function throttleMetrics(user: Construct, { resources }: Watched, kind: 'Read' | 'Write'): cloudwatch.Metric[] {
  return (Object.keys(TABLES) as TableName[]).flatMap((name) => {
    const TableName = resources.tables[name].in(user);
    const { globalIndexes = {} }: TableDefinition = TABLES[name];
    const metric = (label: string, more: Record<string, string> = {}) =>
      new cloudwatch.Metric({
        namespace: 'AWS/DynamoDB',
        metricName: `${kind}ThrottleEvents`,
        label: `${label}, ${kind.toLowerCase()}s`,
        dimensionsMap: { TableName, ...more },
        statistic: 'Sum',
        period: FIVE_MINUTES,
      });
    const ofIndexes = Object.keys(globalIndexes).map((index) =>
      metric(`${name} ${index}`, { GlobalSecondaryIndexName: index }),
    );
    return [metric(name), ...ofIndexes];
  });
}
