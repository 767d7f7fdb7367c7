import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { addOutput } from '../settings/outputs.ts';
import { addAlarmTopic } from './alarm-topic.ts';
import { Alarms } from './alarms.ts';
import { addDashboard } from './dashboard.ts';
import type { Watched } from './watched.ts';

/** The alarms, their topic, and the dashboard. The stack has no state, and the service runs without it. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id, { env: watched.stage.place });
    const alarms = new Alarms(this, 'Alarms', watched).all;
    addAlarmTopic(this, alarms, { emails: watched.stage.alarmEmails, output: 'AlarmTopic' });
    const dashboard = addDashboard(this, watched, alarms);
    const consoleUrl = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;
    addOutput(this, 'OperationsDashboardUrl', `${consoleUrl}#dashboards/dashboard/${dashboard.dashboardName}`);
  }
}
