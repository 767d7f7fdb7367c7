import { type CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import { readsOutputsOf } from '../constructs/reads-outputs.ts';
import { servedFrom } from '../constructs/served-region.ts';
import { addOutput } from '../settings/outputs.ts';
import type { StageConfig } from '../settings/stage.ts';
import { addAlarm } from './alarm.ts';
import { type AlarmName, descriptionOf } from './alarm-list.ts';
import { addAlarmTopics, notify } from './alarm-topics.ts';
import { addBudget } from './budget.ts';
import { addDistributionLogs } from './distribution-logs.ts';
import { addBurnAlarm, FAST_BURN } from './error-budget.ts';
import { saveQueries } from './saved-queries.ts';
import { edgeMetric } from './watched.ts';

export interface EdgeAlarmsStackProps {
  readonly stage: StageConfig;
  /** Outputs of other stacks of the same account. */
  readonly distributionIds: Readonly<Record<'app' | 'cdn', CfnOutput>>;
}

/**
 * Prices of traffic on 2026-11-21, in dollars: for a gigabyte, and for a million requests (1.00) with the two edge functions of a download
 * (0.20) and the firewall (0.60).
 */
export const TRAFFIC_PRICES = { gigabyte: 0.085, millionRequests: 1.8 };
/** The budget that the alarm on traffic assumes when the stage has none, in dollars a month. */
const ASSUMED_BUDGET_USD = 100;
/** The part of the monthly budget that the traffic of an hour may cost without an alarm. */
const BUDGET_OF_AN_HOUR = 1 / 20;

/**
 * The alarms on CloudFront's metrics, the logs of the distributions, and the budget. CloudFront's metrics and logs are only in us-east-1.
 * So the alarms on these metrics, and their topics, are there as well, wherever the service is (decision 0044). A budget has no Region. The
 * stack keeps only logs, and no other stack refers to it.
 */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, props: EdgeAlarmsStackProps) {
    super(scope, id, servedFrom(id, props.stage.place));
    const { stage, distributionIds } = props;
    const ids = { app: this.idOf(stage, distributionIds.app), cdn: this.idOf(stage, distributionIds.cdn) };
    const alarms = {
      CdnServerErrors: this.cdnServerErrors(stage, ids.cdn),
      TrafficCost: this.trafficCost(stage, ids),
    };
    const { requests, downloads } = addDistributionLogs(this, ids);
    addOutput(this, 'RequestLog', requests.logGroupName);
    addOutput(this, 'DownloadLog', downloads.logGroupName);
    saveQueries(this, stage, 'requests', [requests.logGroupName]);
    saveQueries(this, stage, 'downloads', [downloads.logGroupName]);
    const { monthlyBudgetUsd: monthlyUsd, alarmEmails: emails } = stage;
    if (monthlyUsd !== undefined) addBudget(this, { name: this.stackName, monthlyUsd, emails: emails.ticket });
    const topics = addAlarmTopics(this, emails, { page: 'EdgePageTopic', ticket: 'EdgeTicketTopic' });
    for (const [name, alarm] of Object.entries(alarms)) notify(topics, name as AlarmName, alarm);
  }

  /**
   * Reads the id of a distribution from the stack that makes it, which may be in another Region. CloudFormation would look the output up
   * once for each use of it, and is throttled soon. So only a parameter of this stack uses it, and all else uses the parameter.
   */
  private idOf({ place }: StageConfig, output: CfnOutput): string {
    const producer = Stack.of(output);
    readsOutputsOf(this, producer);
    const { stringValue } = new ssm.StringParameter(this, output.node.id, {
      stringValue: Fn.getStackOutput(producer.stackName, output.logicalId, place.region),
      description: `The output of that name of ${producer.stackName}`,
    });
    return stringValue;
  }

  /**
   * The error rate of a long period may be inexact. It is an average, and CloudFront does not document whether each minute counts by the
   * number of its requests.
   */
  private cdnServerErrors(stage: StageConfig, distributionId: string): cloudwatch.AlarmBase {
    return addBurnAlarm(this, stage, 'CdnServerErrors', {
      region: stage.place.region,
      rate: FAST_BURN,
      percentOver: (period) => edgeMetric(distributionId, '5xxErrorRate').with({ period }),
      description: descriptionOf('CdnServerErrors'),
    });
  }

  private trafficCost(stage: StageConfig, ids: Readonly<Record<'app' | 'cdn', string>>): cloudwatch.Alarm {
    const bytes = '(FILL(app_bytes, 0) + FILL(cdn_bytes, 0)) / 1000000000';
    const requests = '(FILL(app_requests, 0) + FILL(cdn_requests, 0)) / 1000000';
    return addAlarm(this, stage, 'TrafficCost', {
      region: stage.place.region,
      metric: new cloudwatch.MathExpression({
        expression: `${TRAFFIC_PRICES.gigabyte} * ${bytes} + ${TRAFFIC_PRICES.millionRequests} * ${requests}`,
        usingMetrics: {
          app_bytes: edgeMetric(ids.app, 'BytesDownloaded'),
          cdn_bytes: edgeMetric(ids.cdn, 'BytesDownloaded'),
          app_requests: edgeMetric(ids.app, 'Requests'),
          cdn_requests: edgeMetric(ids.cdn, 'Requests'),
        },
        label: 'dollars in an hour',
        period: Duration.hours(1),
      }),
      from: (stage.monthlyBudgetUsd ?? ASSUMED_BUDGET_USD) * BUDGET_OF_AN_HOUR,
      periods: [1, 1],
      description: descriptionOf('TrafficCost'),
    });
  }
}
