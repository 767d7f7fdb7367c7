import type { ErrorCode } from './contract/errors.ts';
import type { RateClass } from './contract/route.ts';
import { required } from './env.ts';
import { log } from './log.ts';

/**
 * The metrics of the functions. The functions write them by these names, and the operations stack watches the same names.
 * CloudWatch makes metrics of log records (Embedded Metric Format), so a function needs no call and no permission.
 */
export const METRIC_NAMESPACE = 'FileHosting';

export const METRICS = {
  /** New files, and their bytes; by `Lane`. */
  Uploads: 'Count',
  UploadedBytes: 'Bytes',
  /** Answers with an error; by `Code`. */
  Rejections: 'Count',
  /** Answers `rate_limit_exceeded`; by `RateClass`. */
  RateLimited: 'Count',
  /** Answers of the streaming lane with a status of 5xx, which no gateway counts. */
  StreamingFailures: 'Count',
  /**
   * The largest number of requests that one process of the streaming lane served at the same time. It is written for each minute in which
   * the process served any.
   */
  StreamingPlaces: 'Count',
  /** Logins that failed by our fault or the provider's. They are redirects, so no gateway counts them. */
  LoginFailures: 'Count',
  /** How many steps failed in a run of the canary. */
  CanaryFailures: 'Count',
  /** The rows that a sweep finished. A sweep does not write this metric or the next two when the count is 0. */
  Swept: 'Count',
  /** The rows and objects that a sweep could not finish. */
  SweepFailures: 'Count',
  /** The objects without a row that a sweep removed. */
  SweepOrphans: 'Count',
  /** For how long the oldest row of a sweep had been due. */
  SweepLag: 'Seconds',
} as const;

export type MetricName = keyof typeof METRICS;

/**
 * The three ways in which the bytes of a file come in:
 * - `inline`: a form that the gateway buffers;
 * - `streaming`: a form that the streaming server reads as it arrives;
 * - `direct`: a PUT to the bucket by the URL of a ticket.
 */
export const LANES = ['inline', 'streaming', 'direct'] as const;
export type Lane = (typeof LANES)[number];

/**
 * The dimensions of a metric, besides the stage. Each value of a dimension is a metric of its own, and each metric costs money. So no
 * dimension has a value for each account, file or client.
 */
export type MetricDimensions =
  | { readonly Lane: Lane }
  | { readonly Code: ErrorCode }
  | { readonly RateClass: RateClass }
  | Readonly<Record<never, never>>;

/**
 * Writes one record of metrics.
 * Source: CloudWatch User Guide, "Specification: Embedded metric format"; Lambda Developer Guide, "Publishing custom
 * metrics with the embedded metric format".
 */
export function measure(dimensions: MetricDimensions, values: Readonly<Partial<Record<MetricName, number>>>): void {
  // `STAGE` is read here, and not when this file loads. The stacks import this file too, and must not need the variable.
  const allDimensions = { Stage: required('STAGE'), ...dimensions };
  const definitions = (Object.keys(values) as MetricName[]).map((Name) => ({ Name, Unit: METRICS[Name] }));
  const directive = {
    Namespace: METRIC_NAMESPACE,
    Dimensions: [Object.keys(allDimensions)],
    Metrics: definitions,
  };
  const fields = { _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] }, ...allDimensions, ...values };
  log('info', 'metrics', fields);
}
