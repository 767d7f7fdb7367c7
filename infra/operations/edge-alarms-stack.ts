import { type CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { servedFrom } from '../constructs/served-region.ts';
import type { StageConfig } from '../settings/stage.ts';
import { addAlarm } from './alarm.ts';
import { ALARM_MEANINGS } from './alarm-meanings.ts';
import { addAlarmTopic } from './alarm-topic.ts';
import { addBudget } from './budget.ts';
import { addDownloadLog } from './download-log.ts';
import { edgeMetric, FIVE_MINUTES } from './watched.ts';

export interface EdgeAlarmsStackProps {
  readonly stage: StageConfig;
  /** Outputs of other stacks of the same account. */
  readonly distributionIds: Readonly<Record<'app' | 'cdn', CfnOutput>>;
}

/**
 * The alarms on CloudFront's metrics, and the log of downloads. These metrics, and so their alarms and topic, are only in
 * us-east-1, wherever the service is (decision 0007), and so is CloudFront's log. The budget belongs to no Region. The stack has no state, and no other stack refers to it.
 */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, props: EdgeAlarmsStackProps) {
    super(scope, id, servedFrom(id, props.stage.place));
    const alarms = [
      this.serverErrors('AppServerErrors', props, props.distributionIds.app),
      this.serverErrors('CdnServerErrors', props, props.distributionIds.cdn),
    ];
    addDownloadLog(this, {
      name: this.stackName,
      distributionId: this.idOf(props.stage, props.distributionIds.cdn),
    });
    const { monthlyBudgetUsd: monthlyUsd, alarmEmails: emails } = props.stage;
    if (monthlyUsd !== undefined) addBudget(this, { name: this.stackName, monthlyUsd, emails });
    addAlarmTopic(this, alarms, { emails, output: 'EdgeAlarmTopic' });
  }

  /** Reads the id of a distribution from the stack that makes it, which may be in another Region. */
  private idOf({ place }: StageConfig, output: CfnOutput): string {
    const producer = Stack.of(output);
    this.addStackDependency(producer);
    return Fn.getStackOutput(producer.stackName, output.logicalId, place.region);
  }

  private serverErrors(
    name: 'AppServerErrors' | 'CdnServerErrors',
    { stage }: EdgeAlarmsStackProps,
    output: CfnOutput,
  ): cloudwatch.Alarm {
    const { region } = stage.place;
    const distributionId = this.idOf(stage, output);
    return addAlarm(this, stage, name, {
      region,
      metric: new cloudwatch.MathExpression({
        // With few requests a single error would be a large percentage.
        expression: 'IF(rate * requests / 100 >= 5, rate, 0)',
        usingMetrics: {
          rate: edgeMetric(distributionId, '5xxErrorRate'),
          requests: edgeMetric(distributionId, 'Requests'),
        },
        label: '5xx answers, %',
        period: FIVE_MINUTES,
      }),
      from: 1,
      periods: [2, 3],
      description: ALARM_MEANINGS[name],
    });
  }
}
