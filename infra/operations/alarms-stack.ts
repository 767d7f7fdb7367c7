import { Duration, Stack } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { StageConfig } from '../settings/stage.ts';
import { type AlarmTopics, addAlarmTopics, addNotifyingAlarm } from './alarm-topics.ts';
import { CANARY_PERIOD } from './canary.ts';
import { serviceMetric } from './watched.ts';

/**
 * The topics of the alarms, and the alarms that stop a deployment of functions. They are in a stack of their own, because they have to
 * exist before the functions do.
 */
export class AlarmsStack extends Stack {
  readonly topics: AlarmTopics;
  readonly alarms: readonly AlarmBase[];

  constructor(scope: Construct, id: string, stage: StageConfig) {
    super(scope, id, { env: stage.place });
    this.topics = addAlarmTopics(this, stage.alarmEmails, { page: 'PageTopic', ticket: 'TicketTopic' });
    const to = { stage, topics: this.topics };
    const internalError = addNotifyingAlarm(this, to, 'InternalError', {
      metric: serviceMetric(stage, 'Rejections', { of: { Code: 'internal_error' }, period: Duration.minutes(1) }),
      from: 1,
      periods: [1, 1],
    });
    const canary = () =>
      addNotifyingAlarm(this, to, 'CanaryFailing', {
        metric: serviceMetric(stage, 'CanaryFailures', { statistic: 'Maximum', period: CANARY_PERIOD }),
        from: 1,
        // Runs are not exactly five minutes apart, so a period may have no run.
        periods: [2, 3],
        missingData: 'alarm',
      });
    this.alarms = [internalError, ...(stage.canary ? [canary()] : [])];
  }
}
