import { Aws, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { addOutput } from '../settings/outputs.ts';
import { Alarms } from './alarms.ts';
import type { AlarmsStack } from './alarms-stack.ts';
import { addCanary } from './canary.ts';
import { addDashboard } from './dashboard.ts';
import { saveQueries } from './saved-queries.ts';
import { serviceLogs, type Watched } from './watched.ts';

export interface OperationsStackProps extends Watched {
  readonly bundles: string;
  /** The stack that has the topics and those alarms that are deployed before the functions. */
  readonly alarms: AlarmsStack;
}

/**
 * The canary, the alarms that stop no deployment, the dashboard, and the saved queries. The stack has no state, and the service does not
 * need it.
 */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { bundles, alarms: first, ...watched }: OperationsStackProps) {
    super(scope, id, { env: watched.stage.place });
    if (watched.stage.canary) addCanary(this, watched, bundles);
    const others = new Alarms(this, 'Alarms', { ...watched, topics: first.topics }).all;
    const dashboard = addDashboard(this, watched, [...first.alarms, ...others]);
    saveQueries(this, watched.stage, 'service', serviceLogs(watched));
    const consoleUrl = `https://${Aws.REGION}.console.aws.amazon.com/cloudwatch/home?region=${Aws.REGION}`;
    addOutput(this, 'OperationsDashboardUrl', `${consoleUrl}#dashboards/dashboard/${dashboard.dashboardName}`);
  }
}
