import { Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { Alarms } from '../constructs/alarms.ts';
import { addDashboard } from '../constructs/dashboard.ts';
import type { Watched } from '../constructs/watched.ts';

/** Alarms, whom they tell, and the dashboard. No state, and nothing needs it: the service runs as well without. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    const topic = this.topic(watched.stage.alarmEmail);
    const alarms = new Alarms(this, 'Alarms', watched).all;
    for (const alarm of alarms) {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    addDashboard(this, watched, alarms);
    new CfnOutput(this, 'AlarmTopic', { value: topic.topicArn, description: 'Subscribe to it to be told of alarms' });
  }

  /** Not encrypted: CloudWatch cannot use the key that SNS has for it, and an alarm holds no more than its description. */
  private topic(email: string | undefined): sns.Topic {
    const topic = new sns.Topic(this, 'Topic', { enforceSSL: true });
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
    return topic;
  }
}
