import type { Deadline } from '../../shared/time-limit.ts';

/** What a command is given besides its arguments. */
export interface Session {
  readonly stores: typeof import('./stores.ts').stores;
  /** Every address of links, first the one that the service hands out. */
  readonly cdnUrls: readonly [string, ...string[]];
  readonly defaultStorageLimitBytes: number;
  readonly isDryRun: boolean;
  /** An operator waits; what other writers hold up is tried again until then. */
  readonly deadline: Deadline;
  /** Asks before something that cannot be undone. @throws Refusal unless the answer is yes. */
  confirm(question: string): Promise<void>;
}

export interface Result {
  /** What `--json` prints: an object in one line. */
  readonly json: object;
  /** What a person reads. */
  readonly text: string;
  /** True when something is not as it should be: then the exit code is 1. */
  readonly isBad?: boolean;
}

export interface Command {
  /** As the help shows them; those in brackets may be left out. */
  readonly arguments: readonly string[];
  readonly meaning: string;
  readonly takesDryRun?: true;
  run(session: Session, ...args: string[]): Promise<Result>;
}

/** The command cannot be carried out; the message is a sentence for the operator. */
export class Refusal extends Error {}

/** The command was not given rightly. */
export class UsageError extends Error {}
