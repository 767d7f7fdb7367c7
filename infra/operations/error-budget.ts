import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { StageConfig } from '../settings/stage.ts';
import { addAlarm, alarmNameOf, type NamedAlarm } from './alarm.ts';

/**
 * The error budget: the percentage of the answers of a month that may be 5xx. It is this large because the service may have few
 * requests: the canary sends some fifty an hour, so with a tenth of this budget a single failed request would wake a person.
 */
const BUDGET_PERCENT = 0.5;

/**
 * An alarm on a burn rate is active while errors exceed the rate in both windows. Because of the short window, the alarm ends
 * soon after the errors.
 */
export interface BurnRate {
  readonly long: Duration;
  readonly short: Duration;
  /** The rate at which the budget is spent; at rate 1 it lasts exactly a month. */
  readonly burn: number;
}

/** The windows and factors are those of the Site Reliability Workbook, "Alerting on SLOs" (multiwindow, multi-burn-rate). */
export const FAST_BURN: BurnRate = { long: Duration.hours(1), short: Duration.minutes(5), burn: 14.4 };
export const SLOW_BURN: BurnRate = { long: Duration.hours(6), short: Duration.minutes(30), burn: 6 };

/**
 * Adds an alarm on how fast errors spend the budget. It is a composite of two alarms, one for each window, because all metrics of an
 * alarm have the same period.
 * @param percentOver  the percentage of answers in a period that are errors.
 */
export function addBurnAlarm(
  scope: Construct,
  stage: StageConfig,
  name: string,
  {
    rate: { long, short, burn },
    percentOver,
    ...named
  }: NamedAlarm & { readonly rate: BurnRate; readonly percentOver: (period: Duration) => cloudwatch.IMetric },
): cloudwatch.CompositeAlarm {
  const window = (length: 'Long' | 'Short', period: Duration) =>
    addAlarm(scope, stage, `${name}${length}`, {
      metric: percentOver(period),
      from: burn * BUDGET_PERCENT,
      periods: [1, 1],
      region: named.region,
      description: `One of the two windows of the alarm ${name}`,
    });
  const both = [window('Long', long), window('Short', short)];
  return new cloudwatch.CompositeAlarm(scope, name, {
    compositeAlarmName: alarmNameOf(stage, name, named.region),
    alarmDescription: named.description,
    alarmRule: cloudwatch.AlarmRule.allOf(
      ...both.map((alarm) => cloudwatch.AlarmRule.fromAlarm(alarm, cloudwatch.AlarmState.ALARM)),
    ),
  });
}
