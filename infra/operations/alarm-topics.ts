import { Aws, type Stack } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { addOutput } from '../settings/outputs.ts';
import type { StageConfig } from '../settings/stage.ts';
import type { Urgency } from './alarm-list.ts';

export interface NotifyingAlarm {
  readonly alarm: AlarmBase;
  readonly urgency: Urgency;
}

type TopicOutput = 'PageTopic' | 'TicketTopic' | 'EdgePageTopic' | 'EdgeTicketTopic';

/**
 * Adds two SNS topics to a stack, one for pages and one for tickets. The alarms of the stack publish there when they start and when
 * they end. Each stack has its own topics, because an alarm can publish only in its own Region.
 */
export function addAlarmTopics(
  stack: Stack,
  alarms: readonly NotifyingAlarm[],
  { emails, outputs }: { emails: StageConfig['alarmEmails']; outputs: Readonly<Record<Urgency, TopicOutput>> },
): void {
  const topics = { page: addTopic(stack, 'Pages', emails.page), ticket: addTopic(stack, 'Tickets', emails.ticket) };
  for (const { alarm, urgency } of alarms) {
    alarm.addAlarmAction(new SnsAction(topics[urgency]));
    alarm.addOkAction(new SnsAction(topics[urgency]));
  }
  addOutput(stack, outputs.page, topics.page.topicArn);
  addOutput(stack, outputs.ticket, topics.ticket.topicArn);
}

/** The topic is not encrypted: CloudWatch cannot use the SNS-managed key, and an alarm contains nothing secret. */
function addTopic(stack: Stack, id: string, emails: readonly string[]): sns.Topic {
  const topic = new sns.Topic(stack, id, { enforceSSL: true });
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
  return topic;
}
