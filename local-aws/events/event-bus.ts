import type { Account } from '../aws-front/principals.ts';
import type { ObjectCreated } from '../s3/s3-request.ts';
import type { AsyncInvoker } from './async-invoker.ts';
import { objectCreatedEvent, scheduledEvent } from './event-shapes.ts';
import type { Rule } from './rules.ts';

/**
 * What becomes of an event on its way to the functions. EventBridge delivers at least once and in no order: a test may
 * deliver twice, later, or in another order.
 */
export type Courier = (deliver: () => void) => void;

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
