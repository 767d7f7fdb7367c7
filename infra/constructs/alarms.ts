import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { TableName } from '../../shared/aws/tables.ts';
import { FIVE_MINUTES, serviceMetric, sumOf, type Watched } from './watched.ts';

/**
 * System errors are counted by table and operation, of which an alarm adds up ten: the busiest stand for all, since such
 * an error is DynamoDB's own and picks neither.
 */
const SAMPLED_OPERATIONS: readonly [TableName, string][] = [
  ['apiKeys', 'GetItem'],
  ['sessions', 'GetItem'],
  ['rateLimits', 'UpdateItem'],
  ['idempotency', 'GetItem'],
  ['accounts', 'GetItem'],
  ['accounts', 'UpdateItem'],
  ['files', 'GetItem'],
  ['files', 'PutItem'],
  ['files', 'Query'],
  ['files', 'TransactWriteItems'],
];

interface AlarmSettings {
  readonly metric: cloudwatch.IMetric;
  /** In alarm from this value on. */
  readonly from: number;
  /** So many of the last so many periods; of one that does not pass by itself, one is enough. */
  readonly periods: readonly [bad: number, of: number];
  /** What no data means; where nobody uses the service, nothing is wrong. */
  readonly silence?: 'well' | 'bad';
  /** What it means, and what to look at first. */
  readonly description: string;
}

/**
 * Every alarm of the service, each with what to look at first. Those of CloudFront are missing: its metrics are in
 * us-east-1 alone, where alarms on them must be, and this stack is where the service is.
 */
export class Alarms extends Construct {
  /** Those that tell somebody. */
  readonly all: cloudwatch.AlarmBase[] = [];
  readonly #watched: Watched;

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    this.#watched = watched;
    this.watchFunctions();
    this.watchApi();
    if (watched.streaming) this.watchStreaming();
    this.watchSweeper();
    this.watchDatabase();
  }

  /** An alarm a function, to see which it is, and one over all, to be told once. */
  private watchFunctions(): void {
    const each = Object.entries(this.#watched.api.functions).map(([name, fn]) =>
      this.alarm(`Function-${name}`, {
        metric: sumOf([fn.metricErrors({ period: FIVE_MINUTES }), fn.metricThrottles({ period: FIVE_MINUTES })], name),
        from: 1,
        // One crash is an error for one client; this is one that repeats.
        periods: [2, 3],
        description: `The function ${name} crashes, runs out of time or memory, or is throttled. Look at its log group for the last "Task timed out", "Runtime exited" or stack; with throttles and no errors, at the account's quota of concurrent executions.`,
      }),
    );
    const any = new cloudwatch.CompositeAlarm(this, 'Functions', {
      compositeAlarmName: this.nameOf('Functions'),
      alarmRule: cloudwatch.AlarmRule.anyOf(...each),
      alarmDescription:
        'A function fails or is throttled, again and again. Look first at which: the alarms of the same prefix with "Function-", or "Errors and throttles by function" on the dashboard.',
    });
    this.all.push(any);
  }

  private watchApi(): void {
    const { restApi, failedEvents } = this.#watched.api;
    const options = { period: FIVE_MINUTES, statistic: 'Sum' };
    this.telling('ApiServerErrors', {
      metric: new cloudwatch.MathExpression({
        // A single error among few requests is a large part of them.
        expression: 'IF(errors >= 5, 100 * errors / requests, 0)',
        usingMetrics: { errors: restApi.metricServerError(options), requests: restApi.metricCount(options) },
        label: '5xx answers, %',
        period: FIVE_MINUTES,
      }),
      from: 1,
      periods: [2, 3],
      description:
        'One answer of the API in a hundred is a 5xx. Look first at "Rejections by code" on the dashboard: internal_error is a defect (search the functions\' logs for level error), service_unavailable a dependency (look at the database alarms and GET /health), timeout a slow one.',
    });
    this.telling('ApiLatency', {
      metric: restApi.metricLatency({ period: FIVE_MINUTES, statistic: 'p99' }),
      from: 5_000,
      periods: [3, 3],
      description:
        'One request of the API in a hundred takes five seconds or more, for a quarter of an hour. Look first at "Latency by route" on the dashboard: one route alone is a defect or an upload over a slow line; all of them are the database (throttles) or cold starts (throttles of functions).',
    });
    this.telling('FailedEvents', {
      metric: failedEvents.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: 'Maximum' }),
      from: 1,
      periods: [1, 1],
      description:
        'An event was given up: an arrived upload that was not settled, or a sweep that failed. Look first at a message in the queue: it names the function, the error and the request id. Nothing needs to be sent again (the sweeper gives the upload back, the client may complete it); delete the messages when the cause is known, which ends the alarm.',
    });
  }

  private watchStreaming(): void {
    this.telling('StreamingFailures', {
      // Our own count, since no gateway sees this lane. A server that dies counts nothing: the dashboard has the 5xx that
      // Lambda itself counts (`AWS/Lambda/Web`, whose dimensions are documented only in part, so no alarm hangs on them).
      metric: serviceMetric(this.#watched, 'StreamingFailures'),
      from: 3,
      periods: [2, 3],
      description:
        'The streaming server answers uploads with 5xx. Look first at the log group of the streaming stack for level error: S3 and the database are its only dependencies.',
    });
  }

  private watchSweeper(): void {
    this.telling('SweeperLag', {
      metric: serviceMetric(this.#watched, 'SweepLag', { statistic: 'Maximum' }),
      from: 600,
      periods: [3, 3],
      // It reports every minute, used or not.
      silence: 'bad',
      description:
        'What uploads and deletions left unfinished waits for ten minutes, or the sweeper says nothing: storage stays charged for files that are none. Look first at the log of the function sweep: no lines mean that its schedule or its place among the functions is gone, errors say what fails; lines with much work mean more of it than a run can do.',
    });
    this.telling('SweeperFailures', {
      // A row that resists is tried again every five minutes.
      metric: serviceMetric(this.#watched, 'SweepFailures', { period: Duration.minutes(15) }),
      from: 1,
      periods: [2, 2],
      description:
        'Rows or objects resist the sweeper for half an hour. Look first at the log of the function sweep for level error: each names the file and the cause. If it is always the same file, look at its row and its objects.',
    });
  }

  private watchDatabase(): void {
    const { tables } = this.#watched.resources;
    const options = { period: FIVE_MINUTES, statistic: 'Sum' };
    for (const kind of ['Read', 'Write'] as const) {
      const each = Object.values(tables).map((table) => table.metric(`${kind}ThrottleEvents`, options));
      this.telling(`Database${kind}Throttles`, {
        metric: sumOf(each, `${kind} throttles`),
        // DynamoDB throttles for a moment when it splits a partition, and the SDK tries again.
        from: 10,
        periods: [2, 3],
        description: `DynamoDB refuses ${kind.toLowerCase()}s of our tables. Look first at "Throttles by table" on the dashboard: rate-limits or accounts mean one account that is very busy (see "Who is refused"), several tables a sudden growth that passes by itself, or the account's quota.`,
      });
    }
    const sampled = SAMPLED_OPERATIONS.map(([table, Operation]) =>
      tables[table].metric('SystemErrors', {
        ...options,
        dimensionsMap: { TableName: tables[table].tableName, Operation },
      }),
    );
    this.telling('DatabaseSystemErrors', {
      metric: sumOf(sampled, 'System errors'),
      from: 5,
      periods: [2, 3],
      description:
        'DynamoDB answers with errors of its own (HTTP 500). Look first at the AWS Health Dashboard of the Region; the service answers 503 meanwhile and recovers by itself, so then look at the sweeper.',
    });
  }

  private telling(name: string, settings: AlarmSettings): void {
    this.all.push(this.alarm(name, settings));
  }

  private alarm(name: string, { metric, from, periods, silence = 'well', description }: AlarmSettings) {
    return new cloudwatch.Alarm(this, name, {
      alarmName: this.nameOf(name),
      alarmDescription: description,
      metric,
      threshold: from,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: periods[0],
      evaluationPeriods: periods[1],
      treatMissingData: cloudwatch.TreatMissingData[silence === 'bad' ? 'BREACHING' : 'NOT_BREACHING'],
    });
  }

  private nameOf(name: string): string {
    return `FileHosting-${this.#watched.stage.name}-${name}`;
  }
}
