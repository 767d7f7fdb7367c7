import { randomBytes, randomUUID } from 'node:crypto';
import type { Account } from '../aws-front/principals.ts';
import type { ObjectCreated } from '../s3/s3-request.ts';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import type { AsyncInvoker } from './async-invoker.ts';
import { type EventPattern, readEventPattern } from './event-pattern.ts';

/** Grows with every event, as S3's does per key. */
let sequence = BigInt(Date.now()) << 20n;

/**
 * The EventBridge event of a new object. The key is not encoded in any way.
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

/** The event of a rule that goes by the clock. Source: EventBridge User Guide, "Scheduled events". */
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

/**
 * What becomes of an event on its way to the functions. EventBridge delivers at least once and in no order: a test may
 * deliver twice, later, or in another order.
 */
type Courier = (deliver: () => void) => void;

export interface EventBus {
  /** For the S3 server: an object has come to be. */
  objectCreated(created: ObjectCreated): void;
  /** Runs the rules that go by the clock, now: all of them, or the one of that logical id or name. @throws Error when there is none. */
  runSchedules(rule?: string): void;
  /** Puts another courier in the place of the one that delivers at once. */
  useCourier(courier: Courier): void;
  close(): void;
}

/** EventBridge's default bus on one machine, with the rules of the template. */
export function createEventBus(options: {
  readonly rules: readonly Rule[];
  /** Only these buckets tell EventBridge of their objects. */
  readonly bucketsWithEvents: ReadonlySet<string>;
  readonly invoker: AsyncInvoker;
  readonly account: Account;
  /** Whether rules go by the clock; else only {@link EventBus.runSchedules} runs them. */
  readonly isClockRunning: boolean;
}): EventBus {
  const { rules, bucketsWithEvents, invoker, account } = options;
  let courier: Courier = (deliver) => deliver();

  const call = (rule: Rule, event: object) => {
    const source = { principal: 'events.amazonaws.com', sourceArn: rule.arn };
    for (const target of rule.targets) invoker.send(target, JSON.stringify(event), source);
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
      for (const rule of rules.filter(({ matches }) => matches?.(event))) courier(() => call(rule, event));
    },
    runSchedules(wanted) {
      const chosen = scheduled.filter(({ logicalId, name }) => !wanted || logicalId === wanted || name === wanted);
      if (chosen.length === 0) throw new Error(`no rule ${wanted ?? ''} goes by the clock`);
      for (const rule of chosen) run(rule);
    },
    useCourier(next) {
      courier = next;
    },
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { minute: 60, hour: 3_600, day: 86_400 };

/**
 * The seconds of a `rate(…)` expression.
 * @throws Error for any other expression: a cron is not implemented.
 * Source: EventBridge User Guide, "Rate expressions".
 */
function readRate(expression: string): number {
  const [, count, unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const seconds = SECONDS_PER_UNIT[unit];
  if (!count || !seconds) throw new Error(`the local scheduler does not know "${expression}"`);
  return Number(count) * seconds;
}

/** One `AWS::Events::Rule`: what it waits for, and whom it then calls. */
interface Rule {
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
