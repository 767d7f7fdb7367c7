import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { TableName } from '../../shared/aws/tables.ts';
import type { StreamingStack } from '../stacks/streaming-stack.ts';
import { type AlarmSettings, addAlarm, alarmNameOf } from './alarm.ts';
import { ALARM_MEANINGS, type AlarmName } from './alarm-meanings.ts';
import { directUploadRequests, FIVE_MINUTES, serviceMetric, sumOf, throttleMetrics, type Watched } from './watched.ts';

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

/** So many accounts may upload as fast as they are allowed to, and nothing is wrong. */
const BUSY_ACCOUNTS = 20;

/** Its events wait for a place in Lambda's queue, which counts as throttling and harms nothing; those that wait too long fail. */
const QUEUED = 'settleUpload';

/** Every alarm of the service but those on CloudFront, which are in a Region of their own (edge-alarms-stack.ts). */
export class Alarms extends Construct {
  /** Those that tell somebody. */
  readonly all: cloudwatch.AlarmBase[] = [];
  readonly #watched: Watched;

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    this.#watched = watched;
    this.watchFunctions();
    this.watchApi();
    if (watched.streaming) this.watchStreaming(watched.streaming);
    this.watchDirectUploads();
    this.watchSweeper();
    this.watchDatabase();
  }

  /** An alarm a function, to see which it is, and one over all, to be told once. */
  private watchFunctions(): void {
    const each = Object.entries(this.#watched.api.functions).map(([name, fn]) => {
      const options = { period: FIVE_MINUTES };
      const throttles = name === QUEUED ? [] : [fn.metricThrottles(options)];
      return addAlarm(this, this.#watched.stage, `Function-${name}`, {
        metric: sumOf([fn.metricErrors(options), ...throttles], name),
        from: 1,
        // One crash is an error for one client; this is one that repeats.
        periods: [2, 3],
        description: `The function ${name} crashes, runs out of time or memory, or is throttled. Look at its log group for the last "Task timed out", "Runtime exited" or stack; with throttles and no errors, at the account's quota of concurrent executions.`,
      });
    });
    const any = new cloudwatch.CompositeAlarm(this, 'Functions', {
      compositeAlarmName: alarmNameOf(this.#watched.stage, 'Functions'),
      alarmRule: cloudwatch.AlarmRule.anyOf(...each),
      alarmDescription: ALARM_MEANINGS.Functions,
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
    });
    this.telling('ApiLatency', {
      metric: restApi.metricLatency({ period: FIVE_MINUTES, statistic: 'p99' }),
      from: 5_000,
      periods: [3, 3],
    });
    this.telling('LoginFailures', {
      metric: serviceMetric(this.#watched, 'LoginFailures'),
      from: 3,
      periods: [2, 3],
    });
    this.telling('FailedEvents', {
      metric: failedEvents.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: 'Maximum' }),
      from: 1,
      periods: [1, 1],
    });
  }

  private watchStreaming({ places }: StreamingStack): void {
    this.telling('StreamingFailures', {
      // Our own count, since no gateway sees this lane. A server that dies counts nothing: the dashboard has the 5xx that
      // Lambda itself counts (`AWS/Lambda/Web`, whose dimensions are documented only in part, so no alarm hangs on them).
      metric: serviceMetric(this.#watched, 'StreamingFailures'),
      from: 3,
      periods: [2, 3],
    });
    this.telling('StreamingSaturation', {
      // Every process that is in use writes one record a minute, so the sum of a minute is that of all processes. Slow bodies
      // are cut down to three quarters of the places, so an alarm above that would not see them.
      metric: serviceMetric(this.#watched, 'StreamingPlaces', { period: Duration.minutes(1) }),
      from: places / 2,
      periods: [3, 5],
    });
  }

  private watchDirectUploads(): void {
    const { limits } = this.#watched.stage;
    this.telling('DirectUploadRequests', {
      metric: directUploadRequests(this.#watched),
      from: BUSY_ACCOUNTS * 5 * limits.RATE_LIMIT_UPLOADS_PER_MINUTE,
      periods: [2, 3],
    });
  }

  private watchSweeper(): void {
    this.telling('SweeperLag', {
      metric: serviceMetric(this.#watched, 'SweepLag', { statistic: 'Maximum' }),
      from: 600,
      periods: [3, 3],
      // It reports every minute, used or not.
      silence: 'bad',
    });
    this.telling('SweeperFailures', {
      // A row that resists is tried again every five minutes.
      metric: serviceMetric(this.#watched, 'SweepFailures', { period: Duration.minutes(15) }),
      from: 1,
      periods: [2, 2],
    });
  }

  private watchDatabase(): void {
    const { tables } = this.#watched.resources;
    const options = { period: FIVE_MINUTES, statistic: 'Sum' };
    for (const kind of ['Read', 'Write'] as const) {
      this.telling(`Database${kind}Throttles`, {
        metric: sumOf(throttleMetrics(this.#watched, kind), `${kind} throttles`),
        // DynamoDB throttles for a moment when it splits a partition, and the SDK tries again.
        from: 10,
        periods: [2, 3],
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
    });
  }

  private telling(name: AlarmName, settings: AlarmSettings): void {
    this.all.push(addAlarm(this, this.#watched.stage, name, { ...settings, description: ALARM_MEANINGS[name] }));
  }
}
