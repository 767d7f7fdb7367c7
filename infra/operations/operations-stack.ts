import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { addOutput } from '../settings/outputs.ts';
import { addAlarmTopics } from './alarm-topics.ts';
import { Alarms } from './alarms.ts';
import { addCanary } from './canary.ts';
import { addDashboard } from './dashboard.ts';
import { saveQueries } from './saved-queries.ts';
import { serviceLogs, type Watched } from './watched.ts';

/** The canary, alarms, topics, dashboard and saved queries. The stack has no state, and the service does not need it. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { bundles, ...watched }: Watched & { readonly bundles: string }) {
    super(scope, id, { env: watched.stage.place });
    if (watched.stage.canary) addCanary(this, watched, bundles);
    const alarms = new Alarms(this, 'Alarms', watched).all;
    addAlarmTopics(this, alarms, {
      emails: watched.stage.alarmEmails,
      outputs: { page: 'PageTopic', ticket: 'TicketTopic' },
    });
    const dashboard = addDashboard(
      this,
      watched,
      alarms.map(({ alarm }) => alarm),
    );
    saveQueries(this, watched.stage, 'service', serviceLogs(watched));
    const consoleUrl = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;
    addOutput(this, 'OperationsDashboardUrl', `${consoleUrl}#dashboards/dashboard/${dashboard.dashboardName}`);
  }
}
