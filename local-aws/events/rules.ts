import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { type EventPattern, readEventPattern } from './event-pattern.ts';
import { readRate } from './schedule.ts';

/** One `AWS::Events::Rule`: what it waits for, and whom it then calls. */
export interface Rule {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** ARNs of functions. */
  readonly targets: readonly string[];
  /** Whether an event is for this rule; absent for one that goes by the clock alone. */
  readonly matches?: (event: unknown) => boolean;
  /** Absent for one that waits for events alone. */
  readonly everySeconds?: number;
}

/** The rules that are enabled. */
export function readRules(deployment: Deployment): Rule[] {
  return deployment.resources('AWS::Events::Rule').flatMap((resource) => readRule(resource) ?? []);
}

function readRule(resource: Resource): Rule | undefined {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const pattern = take<EventPattern | ''>('EventPattern', '');
      const schedule = take<string>('ScheduleExpression', '');
      const targets = take<{ Id: string; Arn: string }[]>('Targets');
      const isEnabled = take<string>('State', 'ENABLED') === 'ENABLED';
      const rule = {
        logicalId: resource.logicalId,
        name: resource.ref,
        arn: resource.attribute('Arn'),
        targets: targets.map((target) => readTarget(resource.logicalId, target)),
        ...(pattern !== '' && { matches: readEventPattern(pattern) }),
        ...(schedule !== '' && { everySeconds: readRate(schedule) }),
      };
      return isEnabled ? rule : undefined;
    },
    ['Description', 'Name'],
  );
}

function readTarget(logicalId: string, target: { Id: string; Arn: string }): string {
  return readProperties(
    `${logicalId}.Targets`,
    { ...target },
    (take) => {
      const arn = take<string>('Arn');
      if (!arn.includes(':function:')) throw new Error(`${logicalId}: ${arn} is no function`);
      return arn;
      // How delivery from EventBridge to Lambda is retried matters when Lambda cannot be reached, which it always can here.
    },
    ['Id', 'RetryPolicy', 'DeadLetterConfig'],
  );
}
