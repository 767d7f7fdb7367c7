import { required } from './env.ts';
import type { ErrorCode } from './errors.ts';
import type { RateClass } from './routes.ts';

/**
 * What the functions count, once: they write it by these names, and the operations stack watches the same. CloudWatch
 * makes metrics of log records (Embedded Metric Format), so a function needs no call and no permission for it.
 */
export const METRIC_NAMESPACE = 'FileHosting';

export const METRICS = {
  /** Files that came to be, and their content; by `Lane`. */
  Uploads: 'Count',
  UploadedBytes: 'Bytes',
  /** Answers with an error; by `Code`. */
  Rejections: 'Count',
  /** Those of them that a rate limit gave; by `RateClass`. */
  RateLimited: 'Count',
  /** Those of them that were our fault, on the streaming lane, which no gateway counts. */
  StreamingFailures: 'Count',
  /** The most requests that one process of the streaming lane served at once, in each minute in which it served any. */
  StreamingPlaces: 'Count',
  /** Logins of a browser that ended by a fault of ours or of the provider; they are redirects, so no gateway counts them. */
  LoginFailures: 'Count',
  /** Of one sweep: rows it finished, rows and objects that resisted, objects without a row, how long the oldest was due. */
  Swept: 'Count',
  SweepFailures: 'Count',
  SweepOrphans: 'Count',
  SweepLag: 'Seconds',
} as const;

export type MetricName = keyof typeof METRICS;

/**
 * The three ways the bytes of a file come in: a form that the gateway buffers, a form that the streaming server reads as it
 * arrives, or a PUT to the bucket by the URL of a ticket.
 */
export const LANES = ['inline', 'streaming', 'direct'] as const;
export type Lane = (typeof LANES)[number];

/**
 * What a metric is told apart by, besides the stage. Every value is a metric of its own, and paid for: so nothing that
 * grows with accounts, files or clients.
 */
export type MetricDimensions =
  | { readonly Lane: Lane }
  | { readonly Code: ErrorCode }
  | { readonly RateClass: RateClass }
  | Readonly<Record<never, never>>;

/**
 * Writes one record of metrics. Not by `console`, before whose lines Lambda puts a time and a request id: a record must be
 * the whole line.
 * Source: CloudWatch User Guide, "Specification: Embedded metric format"; Lambda Developer Guide, "Publishing custom
 * metrics with the embedded metric format".
 */
export function measure(dimensions: MetricDimensions, values: Readonly<Partial<Record<MetricName, number>>>): void {
  // Read only now: the stack, which reads the names above, has none.
  const allDimensions = { Stage: required('STAGE'), ...dimensions };
  const definitions = (Object.keys(values) as MetricName[]).map((Name) => ({ Name, Unit: METRICS[Name] }));
  const directive = {
    Namespace: METRIC_NAMESPACE,
    Dimensions: [Object.keys(allDimensions)],
    Metrics: definitions,
  };
  const record = {
    level: 'info',
    message: 'metrics',
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] },
    ...allDimensions,
    ...values,
  };
  process.stdout.write(`${JSON.stringify(record)}\n`);
}
