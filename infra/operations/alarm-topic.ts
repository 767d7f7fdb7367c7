import { Aws, type Stack } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { addOutput } from '../settings/outputs.ts';

/**
 * Adds an SNS topic to which the alarms of a stack publish when they start and when they end. An alarm can only publish in its
 * own Region. The topic is not encrypted: CloudWatch cannot use the SNS-managed key, and an alarm contains nothing secret.
 * @param emails  the first subscribers.
 */
export function addAlarmTopic(
  stack: Stack,
  alarms: readonly AlarmBase[],
  { emails, output }: { emails: readonly string[]; output: 'AlarmTopic' | 'EdgeAlarmTopic' },
): void {
  const topic = new sns.Topic(stack, 'Topic', { enforceSSL: true });
  // This policy replaces the default, which lets the whole AWS account publish.
  topic.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  for (const email of emails) topic.addSubscription(new EmailSubscription(email));
  for (const alarm of alarms) {
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
  addOutput(stack, output, topic.topicArn);
}
