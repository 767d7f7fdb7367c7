import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { TableName } from '../../shared/aws/tables.ts';
import type { StreamingStack } from '../stacks/streaming-stack.ts';
import { type AlarmSettings, addAlarm, alarmNameOf } from './alarm.ts';
import { ALARM_MEANINGS, type AlarmName } from './alarm-meanings.ts';
import { directUploadRequests, FIVE_MINUTES, serviceMetric, sumOf, throttleMetrics, type Watched } from './watched.ts';

/**
 * DynamoDB reports system errors by table and operation, and an alarm takes at most ten metrics. These ten, the busiest, stand
 * for all, because errors of DynamoDB itself do not depend on the table or the operation.
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

/** This many accounts may upload at their rate limit without an alarm. */
const BUSY_ACCOUNTS = 20;

/**
 * The throttles of this function are not counted: its events wait in Lambda's queue until it has capacity, which Lambda
 * counts as throttling and is harmless. Events that wait too long end in the queue of failed events.
 */
const QUEUED = 'completeArrivedUpload';

/** All alarms of the service except those on CloudFront, which must be in us-east-1 (edge-alarms-stack.ts). */
export class Alarms extends Construct {
  /** The alarms that publish to the topic. */
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

  /** Adds one alarm per function, which shows the one that fails, and one over all of them, which notifies once. */
  private watchFunctions(): void {
    const each = Object.entries(this.#watched.api.functions).map(([name, fn]) => {
      const options = { period: FIVE_MINUTES };
      const throttles = name === QUEUED ? [] : [fn.metricThrottles(options)];
      return addAlarm(this, this.#watched.stage, `Function-${name}`, {
        metric: sumOf([fn.metricErrors(options), ...throttles], name),
        from: 1,
        // A single crash is an error of one request; an alarm needs repeated ones.
        periods: [2, 3],
        description: `The function ${name} crashes, runs out of time or memory, or is throttled. Look in its log group for the last "Task timed out", "Runtime exited" or stack trace; with throttles and no errors, look at the account's quota of concurrent executions.`,
      });
    });
    const anyFunction = new cloudwatch.CompositeAlarm(this, 'Functions', {
      compositeAlarmName: alarmNameOf(this.#watched.stage, 'Functions'),
      alarmRule: cloudwatch.AlarmRule.anyOf(...each),
      alarmDescription: ALARM_MEANINGS.Functions,
    });
    this.all.push(anyFunction);
  }

  private watchApi(): void {
    const { restApi, failedEvents } = this.#watched.api;
    const options = { period: FIVE_MINUTES, statistic: 'Sum' };
    this.addNotifyingAlarm('ApiServerErrors', {
      metric: new cloudwatch.MathExpression({
        // With few requests a single error would be a large percentage.
        expression: 'IF(errors >= 5, 100 * errors / requests, 0)',
        usingMetrics: { errors: restApi.metricServerError(options), requests: restApi.metricCount(options) },
        label: '5xx answers, %',
        period: FIVE_MINUTES,
      }),
      from: 1,
      periods: [2, 3],
    });
    this.addNotifyingAlarm('ApiLatency', {
      metric: restApi.metricLatency({ period: FIVE_MINUTES, statistic: 'p99' }),
      from: 5_000,
      periods: [3, 3],
    });
    this.addNotifyingAlarm('LoginFailures', {
      metric: serviceMetric(this.#watched, 'LoginFailures'),
      from: 3,
      periods: [2, 3],
    });
    this.addNotifyingAlarm('FailedEvents', {
      metric: failedEvents.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: 'Maximum' }),
      from: 1,
      periods: [1, 1],
    });
  }

  private watchStreaming({ places }: StreamingStack): void {
    this.addNotifyingAlarm('StreamingFailures', {
      // Our own metric, since this lane has no gateway. A server that crashes writes none: for that the dashboard has the 5xx
      // that Lambda itself counts (`AWS/Lambda/Web`; its dimensions are documented only in part, so no alarm uses them).
      metric: serviceMetric(this.#watched, 'StreamingFailures'),
      from: 3,
      periods: [2, 3],
    });
    this.addNotifyingAlarm('StreamingSaturation', {
      // Every process in use writes one record per minute, so the sum of a minute is that of all processes. From
      // three quarters of the places on, the server cuts slow uploads, so they would never reach a threshold above that.
      metric: serviceMetric(this.#watched, 'StreamingPlaces', { period: Duration.minutes(1) }),
      from: places / 2,
      periods: [3, 5],
    });
  }

  private watchDirectUploads(): void {
    const { limits } = this.#watched.stage;
    this.addNotifyingAlarm('DirectUploadRequests', {
      metric: directUploadRequests(this.#watched),
      from: BUSY_ACCOUNTS * 5 * limits.RATE_LIMIT_UPLOADS_PER_MINUTE,
      periods: [2, 3],
    });
  }

  private watchSweeper(): void {
    this.addNotifyingAlarm('SweeperLag', {
      metric: serviceMetric(this.#watched, 'SweepLag', { statistic: 'Maximum' }),
      from: 600,
      periods: [3, 3],
      // The sweeper reports every minute, even without traffic.
      missingData: 'alarm',
    });
    this.addNotifyingAlarm('SweeperFailures', {
      // A row that fails is tried again every five minutes.
      metric: serviceMetric(this.#watched, 'SweepFailures', { period: Duration.minutes(15) }),
      from: 1,
      periods: [2, 2],
    });
  }

  private watchDatabase(): void {
    const { tables } = this.#watched.resources;
    const options = { period: FIVE_MINUTES, statistic: 'Sum' };
    for (const kind of ['Read', 'Write'] as const) {
      this.addNotifyingAlarm(`Database${kind}Throttles`, {
        metric: sumOf(throttleMetrics(this.#watched, kind), `${kind} throttles`),
        // DynamoDB throttles briefly when it splits a partition, and the SDK retries.
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
    this.addNotifyingAlarm('DatabaseSystemErrors', {
      metric: sumOf(sampled, 'System errors'),
      from: 5,
      periods: [2, 3],
    });
  }

  private addNotifyingAlarm(name: AlarmName, settings: AlarmSettings): void {
    this.all.push(addAlarm(this, this.#watched.stage, name, { ...settings, description: ALARM_MEANINGS[name] }));
  }
}
