import { Aws, type Stack } from 'aws-cdk-lib';
import type { AlarmBase } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { addOutput } from '../settings/outputs.ts';
import type { StageConfig } from '../settings/stage.ts';
import { ALARMS, type AlarmName, type Urgency } from './alarm-list.ts';

/** Two SNS topics, one for pages and one for tickets. */
export type AlarmTopics = Readonly<Record<Urgency, sns.ITopic>>;

type TopicOutput = 'PageTopic' | 'TicketTopic' | 'EdgePageTopic' | 'EdgeTicketTopic';

/** Adds two SNS topics to a stack, one for pages and one for tickets. An alarm can publish only in its own Region. */
export function addAlarmTopics(
  stack: Stack,
  emails: StageConfig['alarmEmails'],
  outputs: Readonly<Record<Urgency, TopicOutput>>,
): AlarmTopics {
  const topics = { page: addTopic(stack, 'Pages', emails.page), ticket: addTopic(stack, 'Tickets', emails.ticket) };
  addOutput(stack, outputs.page, topics.page.topicArn);
  addOutput(stack, outputs.ticket, topics.ticket.topicArn);
  return topics;
}

/** Lets one of the {@link ALARMS} publish to the topic of its urgency, when the alarm starts and when it ends. */
export function notify(topics: AlarmTopics, name: AlarmName, alarm: AlarmBase): AlarmBase {
  const topic = new SnsAction(topics[ALARMS[name].urgency]);
  alarm.addAlarmAction(topic);
  alarm.addOkAction(topic);
  return alarm;
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
