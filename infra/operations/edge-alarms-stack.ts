import { type CfnOutput, Fn, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { addAlarm } from '../constructs/alarm.ts';
import { ALARM_MEANINGS } from '../constructs/alarm-meanings.ts';
import { addAlarmTopic } from '../constructs/alarm-topic.ts';
import { servedFrom } from '../constructs/served-region.ts';
import { edgeMetric, FIVE_MINUTES } from '../constructs/watched.ts';
import type { StageConfig } from '../stage.ts';

export interface EdgeAlarmsStackProps {
  readonly stage: StageConfig;
  /** Outputs of other stacks, of the same account. */
  readonly distributionIds: Readonly<Record<'app' | 'cdn', CfnOutput>>;
  /** Where those stacks are. Absent: where this one is. */
  readonly region: string | undefined;
}

/**
 * Alarms on what viewers get: CloudFront's metrics, and so the alarms on them and the topic they tell, are in us-east-1
 * alone, wherever the service is (decision 0007). No state, and nothing needs it.
 */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, props: EdgeAlarmsStackProps) {
    super(scope, id, servedFrom(id, props.region));
    const alarms = [
      this.serverErrors('AppServerErrors', props, props.distributionIds.app),
      this.serverErrors('CdnServerErrors', props, props.distributionIds.cdn),
    ];
    addAlarmTopic(this, alarms, { email: props.stage.alarmEmail, output: 'EdgeAlarmTopic' });
  }

  private serverErrors(
    name: 'AppServerErrors' | 'CdnServerErrors',
    { stage, region }: EdgeAlarmsStackProps,
    output: CfnOutput,
  ): cloudwatch.Alarm {
    const producer = Stack.of(output);
    this.addStackDependency(producer);
    const distributionId = Fn.getStackOutput(producer.stackName, output.logicalId, region);
    return addAlarm(this, stage, name, {
      region,
      metric: new cloudwatch.MathExpression({
        // A single error among few requests is a large part of them.
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
