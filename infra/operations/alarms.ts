import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { StreamingStack } from '../stacks/streaming-stack.ts';
import { type AlarmSettings, addAlarm } from './alarm.ts';
import { type AlarmName, BUSY_ACCOUNTS, descriptionOf } from './alarm-list.ts';
import { type AlarmTopics, notify } from './alarm-topics.ts';
import { CANARY_PERIOD } from './canary.ts';
import { addBurnAlarm, type BurnRate, FAST_BURN, SLOW_BURN } from './error-budget.ts';
import {
  directUploadRequests,
  FIVE_MINUTES,
  failedEvents,
  functionMetric,
  serviceMetric,
  type Watched,
} from './watched.ts';

/**
 * How many functions may run at the same time in an AWS account and Region: Lambda's default, and the quota of many new accounts,
 * for which `reservesConcurrency` is false. The numbers are fixed here, because an alarm cannot read the quota.
 */
const CONCURRENCY_QUOTA = { usual: 1_000, ofNewAccounts: 10 };

/**
 * All alarms of the service except those on CloudFront, which must be in us-east-1 (edge-alarms-stack.ts).
 */
export class Alarms extends Construct {
  /** The alarms that notify a topic. */
  readonly all: cloudwatch.AlarmBase[] = [];
  readonly #watched: Watched;
  readonly #topics: AlarmTopics;

  constructor(scope: Construct, id: string, { topics, ...watched }: Watched & { readonly topics: AlarmTopics }) {
    super(scope, id);
    this.#watched = watched;
    this.#topics = topics;
    this.watchErrors();
    if (watched.stage.canary) this.watchCanary();
    this.watchApi();
    this.watchLogins();
    if (watched.streaming) this.watchStreaming(watched.streaming);
    this.watchCapacity();
    this.watchDirectUploads();
    this.watchBackground();
  }

  private watchErrors(): void {
    this.addNotifyingAlarm('InternalError', {
      metric: serviceMetric(this.#watched.stage, 'Rejections', {
        of: { Code: 'internal_error' },
        period: Duration.minutes(1),
      }),
      from: 1,
      periods: [1, 1],
    });
  }

  private watchCanary(): void {
    this.addNotifyingAlarm('CanaryFailing', {
      metric: serviceMetric(this.#watched.stage, 'CanaryFailures', { statistic: 'Maximum', period: CANARY_PERIOD }),
      from: 1,
      // Runs are not exactly five minutes apart, so a period may have no run.
      periods: [2, 3],
      missingData: 'alarm',
    });
  }

  /** When a function crashes, times out or is throttled, the gateway answers 5xx. So no function has an alarm of its own. */
  private watchApi(): void {
    this.addApiBudget('ApiBudgetFast', FAST_BURN);
    this.addApiBudget('ApiBudgetSlow', SLOW_BURN);
  }

  private addApiBudget(name: 'ApiBudgetFast' | 'ApiBudgetSlow', rate: BurnRate): void {
    const { restApi } = this.#watched.api;
    const percentOver = (period: Duration) =>
      new cloudwatch.MathExpression({
        expression: '100 * errors / requests',
        usingMetrics: {
          errors: restApi.metricServerError({ statistic: 'Sum' }),
          requests: restApi.metricCount({ statistic: 'Sum' }),
        },
        label: '5xx answers, %',
        period,
      });
    const alarm = addBurnAlarm(this, this.#watched.stage, name, {
      rate,
      percentOver,
      description: descriptionOf(name),
    });
    this.all.push(notify(this.#topics, name, alarm));
  }

  private watchLogins(): void {
    const { startLogin, finishLogin } = this.#watched.api.functions;
    if (!startLogin || !finishLogin) throw new Error('the functions of the login have other names');
    this.addNotifyingAlarm('LoginFailures', {
      metric: failureRate(
        {
          failures: serviceMetric(this.#watched.stage, 'LoginFailures'),
          starts: functionMetric(startLogin, 'Invocations'),
          finishes: functionMetric(finishLogin, 'Invocations'),
        },
        'FILL(starts, 0) + FILL(finishes, 0)',
      ),
      from: 10,
      periods: [1, 1],
    });
  }

  private watchStreaming({ places }: StreamingStack): void {
    this.addNotifyingAlarm('StreamingFailures', {
      // These are our own metrics, because this lane has no gateway. A server that crashes writes no metric. Then the canary fails, and the
      // dashboard shows the 5xx that Lambda itself counts (`AWS/Lambda/Web`; its dimensions are documented only in part).
      metric: failureRate(
        {
          failures: serviceMetric(this.#watched.stage, 'StreamingFailures'),
          uploads: serviceMetric(this.#watched.stage, 'Uploads', { of: { Lane: 'streaming' } }),
        },
        'failures + FILL(uploads, 0)',
      ),
      from: 10,
      periods: [1, 1],
    });
    this.addNotifyingAlarm('StreamingSaturation', {
      // Every process in use writes one record per minute, so the sum of a minute is that of all processes. From three quarters of
      // the places on, the server cuts refused and slow bodies. So if most are such bodies, the number of taken places never reaches a
      // threshold above that.
      metric: serviceMetric(this.#watched.stage, 'StreamingPlaces', { period: Duration.minutes(1) }),
      from: places / 2,
      periods: [3, 5],
    });
  }

  private watchCapacity(): void {
    const quota = CONCURRENCY_QUOTA[this.#watched.stage.reservesConcurrency ? 'usual' : 'ofNewAccounts'];
    this.addNotifyingAlarm('Concurrency', {
      // This metric includes reserved concurrency. Source: Lambda Developer Guide, "Monitoring concurrency".
      metric: new cloudwatch.Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      from: 0.8 * quota,
      periods: [3, 5],
    });
    this.addNotifyingAlarm('GatewayThrottles', {
      metric: this.#watched.api.gatewayThrottles.with({ period: FIVE_MINUTES, statistic: 'Sum' }),
      from: 1,
      periods: [2, 3],
    });
    // A login asks without a credential, so the gateway cannot tell a stranger's flood from the people who want to log in.
    this.addNotifyingAlarm('LoginThrottles', {
      metric: this.#watched.api.loginThrottles.with({ period: Duration.minutes(1), statistic: 'Sum' }),
      from: 1,
      periods: [3, 5],
    });
  }

  private watchDirectUploads(): void {
    const { limits } = this.#watched.stage;
    this.addNotifyingAlarm('DirectUploadRequests', {
      metric: directUploadRequests(this, this.#watched),
      from: BUSY_ACCOUNTS * 5 * limits.RATE_LIMIT_UPLOADS_PER_MINUTE,
      periods: [2, 3],
    });
  }

  private watchBackground(): void {
    this.addNotifyingAlarm('FailedEvents', {
      metric: failedEvents(this.#watched),
      from: 1,
      periods: [1, 1],
    });
    this.addNotifyingAlarm('SweeperLag', {
      metric: serviceMetric(this.#watched.stage, 'SweepLag', { statistic: 'Maximum' }),
      from: 600,
      periods: [3, 3],
      // The sweeper reports every minute, even without traffic.
      missingData: 'alarm',
    });
    this.addNotifyingAlarm('SweeperFailures', {
      // A ticket that fails is tried again every minute. A row of the index `unfinished` is tried again every five
      // minutes.
      metric: serviceMetric(this.#watched.stage, 'SweepFailures', { period: Duration.minutes(15) }),
      from: 1,
      periods: [2, 2],
    });
  }

  private addNotifyingAlarm(name: AlarmName, settings: AlarmSettings): void {
    const alarm = addAlarm(this, this.#watched.stage, name, { ...settings, description: descriptionOf(name) });
    this.all.push(notify(this.#topics, name, alarm));
  }
}

/**
 * The percentage of failures within half an hour. A single failure does not count, because with few requests it would be a large
 * percentage. If the fault lasts, the person tries again, and the second failure counts.
 * @param metrics  `failures`, and the metrics that `all` refers to.
 * @param all  the expression for the number that is 100 percent.
 */
function failureRate(metrics: Readonly<Record<string, cloudwatch.IMetric>>, all: string): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: `IF(failures >= 2, 100 * failures / (${all}), 0)`,
    usingMetrics: metrics,
    label: 'failures, %',
    period: Duration.minutes(30),
  });
}
