import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { StageConfig } from '../settings/stage.ts';

export interface AlarmSettings {
  readonly metric: cloudwatch.IMetric;
  /** The threshold: values from this one on are bad. */
  readonly from: number;
  /** `[bad, of]`: the alarm starts when `bad` of the last `of` periods are bad. */
  readonly periods: readonly [bad: number, of: number];
  /** What missing data counts as. The default is `ok`, because nothing is wrong without traffic. */
  readonly missingData?: 'ok' | 'alarm';
}

export interface NamedAlarm {
  /** What the alarm means, and where to read more. */
  readonly description: string;
  /** The Region of the service: part of the name of an alarm in us-east-1, where services of several Regions have alarms. */
  readonly region?: string | undefined;
}

/**
 * Adds an alarm to a stack.
 * @param name  the part of the alarm's name that follows the stage, and its id in the scope.
 */
export function addAlarm(
  scope: Construct,
  stage: StageConfig,
  name: string,
  { metric, from, periods, missingData = 'ok', description, region }: AlarmSettings & NamedAlarm,
): cloudwatch.Alarm {
  return new cloudwatch.Alarm(scope, name, {
    alarmName: alarmNameOf(stage, name, region),
    alarmDescription: description,
    metric,
    threshold: from,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    datapointsToAlarm: periods[0],
    evaluationPeriods: periods[1],
    treatMissingData: cloudwatch.TreatMissingData[missingData === 'alarm' ? 'BREACHING' : 'NOT_BREACHING'],
  });
}

export function alarmNameOf(stage: StageConfig, name: string, region?: string): string {
  return [`FileHosting-${stage.name}-${name}`, ...(region === undefined ? [] : [region])].join('-');
}
