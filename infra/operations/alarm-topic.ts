import { Aws, type Stack } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { addOutput } from '../settings/outputs.ts';

/**
 * A topic that the alarms of a stack tell when they begin and when they are over; an alarm can tell none of another Region.
 * Not encrypted: CloudWatch cannot use the key that SNS has for it, and an alarm holds no more than its description.
 * @param email  absent: whoever subscribes is told.
 */
export function addAlarmTopic(
  stack: Stack,
  alarms: readonly AlarmBase[],
  { email, output }: { email: string | undefined; output: 'AlarmTopic' | 'EdgeAlarmTopic' },
): void {
  const topic = new sns.Topic(stack, 'Topic', { enforceSSL: true });
  // A policy of its own replaces the one by which the whole account may publish.
  topic.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  for (const alarm of alarms) {
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
  addOutput(stack, output, topic.topicArn);
}
