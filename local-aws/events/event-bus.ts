import { randomBytes, randomUUID } from 'node:crypto';
import type { Account } from '../aws-front/principals.ts';
import type { ObjectCreated } from '../s3/s3-request.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import type { AsyncInvoker } from './async-invoker.ts';
import { type EventPattern, readEventPattern } from './event-pattern.ts';

/** One `AWS::Events::Rule`: the events or the schedule it waits for, and the functions it then invokes. */
interface Rule {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly targets: readonly Target[];
  /** Whether an event matches the rule; absent when the rule has only a schedule. */
  readonly matches?: (event: unknown) => boolean;
  /** The interval of the schedule; absent when the rule has only a pattern. */
  readonly everySeconds?: number;
}

interface Target {
  /** The ARN of a function. */
  readonly arn: string;
  /** The JSON that the function gets in place of the event. */
  readonly input?: string;
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
      const targets = take<{ Id: string; Arn: string; Input?: string }[]>('Targets');
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

function readTarget(logicalId: string, target: { Id: string; Arn: string; Input?: string }): Target {
  return readProperties(
    `${logicalId}.Targets`,
    { ...target },
    (take) => {
      const arn = take<string>('Arn');
      if (!arn.includes(':function:')) throw new Error(`${logicalId}: ${arn} is not a function`);
      const input = take<string>('Input', '');
      return { arn, ...(input !== '' && { input }) };
      // RetryPolicy and DeadLetterConfig apply when EventBridge cannot reach Lambda. The local event bus always reaches Lambda.
    },
    ['Id', 'RetryPolicy', 'DeadLetterConfig'],
  );
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { minute: 60, hour: 3_600, day: 86_400 };

/**
 * The seconds of a `rate(…)` expression.
 * @throws Error for any other expression, such as `cron(…)`.
 * Source: EventBridge User Guide, "Rate expressions".
 */
function readRate(expression: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = SECONDS_PER_UNIT[unit];
  if (!count || !seconds) throw new Error(`the local scheduler does not know "${expression}"`);
  return Number(count) * seconds;
}

/**
 * Delivers the event of a new object to the functions of a rule by calling `deliver`. EventBridge delivers at least once and in no
 * order, so a test may deliver an event twice, later, or in another order.
 */
type EventDelivery = (deliver: () => void) => void;

export interface EventBus {
  /** The S3 server calls this when an object was created. */
  objectCreated(created: ObjectCreated): void;
  /** Runs the scheduled rules now: all of them, or the one with that logical id or name. @throws Error when there is none. */
  runSchedules(rule?: string): void;
  /** Replaces the delivery of the events of new objects, which by default is immediate. Schedules do not use it. */
  deliverBy(delivery: EventDelivery): void;
  close(): void;
}

/** The default bus of EventBridge, with the rules of the template. */
export function createEventBus(options: {
  readonly rules: readonly Rule[];
  /** The buckets that send events to EventBridge. */
  readonly bucketsWithEvents: ReadonlySet<string>;
  readonly invoker: AsyncInvoker;
  readonly account: Account;
  /** Whether the clock runs scheduled rules. If not, only {@link EventBus.runSchedules} does. */
  readonly isClockRunning: boolean;
}): EventBus {
  const { rules, bucketsWithEvents, invoker, account } = options;
  let delivery: EventDelivery = (deliver) => deliver();

  const call = (rule: Rule, event: object) => {
    const source = { principal: 'events.amazonaws.com', sourceArn: rule.arn };
    for (const { arn, input } of rule.targets) invoker.send(arn, input ?? JSON.stringify(event), source);
  };
  const run = (rule: Rule) => call(rule, scheduledEvent(rule.arn, account));
  const scheduled = rules.filter(({ everySeconds }) => everySeconds !== undefined);
  const timers = options.isClockRunning
    ? scheduled.map((rule) => setInterval(run, (rule.everySeconds ?? 0) * 1_000, rule))
    : [];

  return {
    objectCreated(created) {
      if (!bucketsWithEvents.has(created.bucket)) return;
      const event = objectCreatedEvent(created, account);
      for (const rule of rules.filter(({ matches }) => matches?.(event))) delivery(() => call(rule, event));
    },
    runSchedules(wanted) {
      const chosen = scheduled.filter(({ logicalId, name }) => !wanted || logicalId === wanted || name === wanted);
      if (chosen.length === 0) throw new Error(`there is no scheduled rule ${wanted ?? ''}`);
      for (const rule of chosen) run(rule);
    },
    deliverBy(next) {
      delivery = next;
    },
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Increases with every event, as S3's sequencer does per key. */
let sequence = BigInt(Date.now()) << 20n;

/**
 * The EventBridge event of a new object. Its key is not encoded.
 * Source: S3 User Guide, "EventBridge event message structure".
 */
function objectCreatedEvent(created: ObjectCreated, { region, accountId }: Account): object {
  sequence += 1n;
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Object Created',
    source: 'aws.s3',
    account: accountId,
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [`arn:aws:s3:::${created.bucket}`],
    detail: {
      version: '0',
      bucket: { name: created.bucket },
      object: {
        key: created.key,
        size: created.size,
        etag: created.etag,
        sequencer: sequence.toString(16).toUpperCase().padStart(18, '0'),
      },
      'request-id': randomBytes(8).toString('hex').toUpperCase(),
      requester: accountId,
      'source-ip-address': '127.0.0.1',
      reason: created.reason,
    },
  };
}

/** The event of a scheduled rule. Source: EventBridge User Guide, "Scheduled events". */
function scheduledEvent(ruleArn: string, { region, accountId }: Account): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: accountId,
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [ruleArn],
    detail: {},
  };
}
