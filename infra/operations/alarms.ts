import { Duration, type Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { ApiStack } from '../stacks/api-stack.ts';
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
 * Adds all alarms of the service except those on CloudFront, which must be in us-east-1 (edge-alarms-stack.ts).
 * @returns the alarms that notify a topic.
 */
export function addAlarms(stack: Stack, topics: AlarmTopics, watched: Watched): cloudwatch.AlarmBase[] {
  const { stage, api, streaming } = watched;
  // The ids of the alarms begin with it.
  const scope = new Construct(stack, 'Alarms');
  const all: cloudwatch.AlarmBase[] = [];
  const add = (name: AlarmName, settings: AlarmSettings) => {
    const alarm = addAlarm(scope, stage, name, { ...settings, description: descriptionOf(name) });
    all.push(notify(topics, name, alarm));
  };
  const addApiBudget = (name: AlarmName, rate: BurnRate) => {
    const percentOver = (period: Duration) => serverErrors(api, period);
    const alarm = addBurnAlarm(scope, stage, name, { rate, percentOver, description: descriptionOf(name) });
    all.push(notify(topics, name, alarm));
  };

  add('InternalError', {
    metric: serviceMetric(stage, 'Rejections', { of: { Code: 'internal_error' }, period: Duration.minutes(1) }),
    from: 1,
    periods: [1, 1],
  });
  if (stage.canary) {
    add('CanaryFailing', {
      metric: serviceMetric(stage, 'CanaryFailures', { statistic: 'Maximum', period: CANARY_PERIOD }),
      from: 1,
      // Runs are not exactly five minutes apart, so a period may have no run.
      periods: [2, 3],
      missingData: 'alarm',
    });
  }
  // When a function crashes, times out or is throttled, the gateway answers 5xx. So no function has an alarm of its own.
  addApiBudget('ApiBudgetFast', FAST_BURN);
  addApiBudget('ApiBudgetSlow', SLOW_BURN);
  add('LoginFailures', { metric: loginFailures(watched), from: 10, periods: [1, 1] });
  if (streaming) {
    add('StreamingFailures', {
      // These are our own metrics, because this lane has no gateway. A server that crashes writes no metric. Then the canary fails, and the
      // dashboard shows the 5xx that Lambda itself counts (`AWS/Lambda/Web`; its dimensions are documented only in part).
      metric: failureRate(
        {
          failures: serviceMetric(stage, 'StreamingFailures'),
          uploads: serviceMetric(stage, 'Uploads', { of: { Lane: 'streaming' } }),
        },
        'failures + FILL(uploads, 0)',
      ),
      from: 10,
      periods: [1, 1],
    });
    add('StreamingSaturation', {
      // Every process in use writes one record per minute, so the sum of a minute is that of all processes. From three quarters of
      // the places on, the server cuts refused and slow bodies. So if most are such bodies, the number of taken places never reaches a
      // threshold above that.
      metric: serviceMetric(stage, 'StreamingPlaces', { period: Duration.minutes(1) }),
      from: streaming.places / 2,
      periods: [3, 5],
    });
  }
  add('Concurrency', {
    // This metric includes reserved concurrency. Source: Lambda Developer Guide, "Monitoring concurrency".
    metric: new cloudwatch.Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ClaimedAccountConcurrency',
      statistic: 'Maximum',
      period: Duration.minutes(1),
    }),
    from: 0.8 * CONCURRENCY_QUOTA[stage.reservesConcurrency ? 'usual' : 'ofNewAccounts'],
    periods: [3, 5],
  });
  add('GatewayThrottles', {
    metric: api.gatewayThrottles.with({ period: FIVE_MINUTES, statistic: 'Sum' }),
    from: 1,
    periods: [2, 3],
  });
  // A login asks without a credential, so the gateway cannot tell a stranger's flood from the people who want to log in.
  add('LoginThrottles', {
    metric: api.loginThrottles.with({ period: Duration.minutes(1), statistic: 'Sum' }),
    from: 1,
    periods: [3, 5],
  });
  add('DirectUploadRequests', {
    metric: directUploadRequests(scope, watched),
    from: BUSY_ACCOUNTS * 5 * stage.limits.RATE_LIMIT_UPLOADS_PER_MINUTE,
    periods: [2, 3],
  });
  add('FailedEvents', { metric: failedEvents(watched), from: 1, periods: [1, 1] });
  add('SweeperLag', {
    metric: serviceMetric(stage, 'SweepLag', { statistic: 'Maximum' }),
    from: 600,
    periods: [3, 3],
    // The sweeper reports every minute, even without traffic.
    missingData: 'alarm',
  });
  add('SweeperFailures', {
    // A ticket that fails is tried again every minute. A row of the index `unfinished` is tried again every five
    // minutes.
    metric: serviceMetric(stage, 'SweepFailures', { period: Duration.minutes(15) }),
    from: 1,
    periods: [2, 2],
  });
  return all;
}

/** The percentage of the answers of the API that are 5xx. */
function serverErrors({ restApi }: ApiStack, period: Duration): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: '100 * errors / requests',
    usingMetrics: {
      errors: restApi.metricServerError({ statistic: 'Sum' }),
      requests: restApi.metricCount({ statistic: 'Sum' }),
    },
    label: '5xx answers, %',
    period,
  });
}

function loginFailures({ stage, api }: Watched): cloudwatch.MathExpression {
  const { startLogin, finishLogin } = api.functions;
  if (!startLogin || !finishLogin) throw new Error('the functions of the login have other names');
  return failureRate(
    {
      failures: serviceMetric(stage, 'LoginFailures'),
      starts: functionMetric(startLogin, 'Invocations'),
      finishes: functionMetric(finishLogin, 'Invocations'),
    },
    'FILL(starts, 0) + FILL(finishes, 0)',
  );
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
