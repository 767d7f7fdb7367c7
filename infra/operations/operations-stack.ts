import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { addOutput } from '../settings/outputs.ts';
import { addAlarmTopics } from './alarm-topics.ts';
import { addAlarms } from './alarms.ts';
import { addCanary } from './canary.ts';
import { addDashboard } from './dashboard.ts';
import { saveQueries } from './saved-queries.ts';
import { serviceLogs, type Watched } from './watched.ts';

export interface OperationsStackProps extends Watched {
  readonly bundles: string;
}

/**
 * The canary, the alarms and their topics, the dashboard, and the saved queries. The stack has no state, and the service does not need it.
 */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { bundles, ...watched }: OperationsStackProps) {
    super(scope, id, { env: watched.stage.place });
    if (watched.stage.canary) addCanary(this, watched, bundles);
    const topics = addAlarmTopics(this, watched.stage.alarmEmails, { page: 'PageTopic', ticket: 'TicketTopic' });
    const alarms = addAlarms(this, topics, watched);
    const dashboard = addDashboard(this, watched, alarms);
    saveQueries(this, watched.stage, 'service', serviceLogs(this, watched));
    const consoleUrl = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;
    addOutput(this, 'OperationsDashboardUrl', `${consoleUrl}#dashboards/dashboard/${dashboard.dashboardName}`);
  }
}
