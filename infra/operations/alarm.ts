import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { StageConfig } from '../settings/stage.ts';

export interface AlarmSettings {
  readonly metric: cloudwatch.IMetric;
  /** In alarm from this value on. */
  readonly from: number;
  /** So many of the last so many periods; of one that does not pass by itself, one is enough. */
  readonly periods: readonly [bad: number, of: number];
  /** What no data means; where nobody uses the service, nothing is wrong. */
  readonly silence?: 'well' | 'bad';
}

interface NamedAlarm {
  /** What it means, and what to look at first. */
  readonly description: string;
  /** Of the service, where the alarm is in another one beside those of the same stage elsewhere. */
  readonly region?: string | undefined;
}

/**
 * @param name  the last part of the alarm's name, and its id in the scope.
 */
export function addAlarm(
  scope: Construct,
  stage: StageConfig,
  name: string,
  { metric, from, periods, silence = 'well', description, region }: AlarmSettings & NamedAlarm,
): cloudwatch.Alarm {
  return new cloudwatch.Alarm(scope, name, {
    alarmName: [alarmNameOf(stage, name), ...(region === undefined ? [] : [region])].join('-'),
    alarmDescription: description,
    metric,
    threshold: from,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm: periods[0],
    evaluationPeriods: periods[1],
    treatMissingData: cloudwatch.TreatMissingData[silence === 'bad' ? 'BREACHING' : 'NOT_BREACHING'],
  });
}

export function alarmNameOf(stage: StageConfig, name: string): string {
  return `FileHosting-${stage.name}-${name}`;
}
