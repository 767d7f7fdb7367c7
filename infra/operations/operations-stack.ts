import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { addOutput } from '../settings/outputs.ts';
import { addAlarmTopic } from './alarm-topic.ts';
import { Alarms } from './alarms.ts';
import { addDashboard } from './dashboard.ts';
import type { Watched } from './watched.ts';

/** Alarms, whom they tell, and the dashboard. No state, and nothing needs it: the service runs as well without. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    const alarms = new Alarms(this, 'Alarms', watched).all;
    addAlarmTopic(this, alarms, { email: watched.stage.alarmEmail, output: 'AlarmTopic' });
    const dashboard = addDashboard(this, watched, alarms);
    const console = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;
    addOutput(this, 'OperationsDashboardUrl', `${console}#dashboards/dashboard/${dashboard.dashboardName}`);
  }
}
