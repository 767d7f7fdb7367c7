import type { Deadline } from '../../../shared/time-limit.ts';
import type { StageLogs } from '../logs/stage-logs.ts';
import type { stores } from './stores.ts';

/** What a command can use besides its arguments. */
export interface CommandContext {
  readonly stores: typeof stores;
  /** The base URLs of links: first the one that the API puts into links, then the one under cloudfront.net. */
  readonly cdnUrls: readonly [string, ...string[]];
  readonly defaultStorageLimitBytes: number;
  readonly isDryRun: boolean;
  readonly logs: StageLogs;
  /** How far back a command looks in the logs. If undefined, each command uses a default of its own. */
  readonly hours?: number | undefined;
  /** The time from which a command looks back, in epoch milliseconds; now by default. */
  readonly until?: number | undefined;
  /** A transaction that conflicts with other writers is repeated until this deadline. */
  readonly deadline: Deadline;
  /** Asks the operator to confirm something that cannot be undone. @throws Refusal unless the answer is yes. */
  confirm(question: string): Promise<void>;
}

export interface Result {
  /** The output with `--json`, in one line. */
  readonly json: object;
  /** The output for people. */
  readonly text: string;
  /** True when a problem was found and not corrected: then the exit code is 1. */
  readonly isBad?: boolean;
}

export interface Command {
  /** The arguments as the help text shows them; those in brackets are optional. */
  readonly arguments: readonly string[];
  readonly meaning: string;
  readonly takesDryRun?: true;
  readonly takesHours?: true;
  run(context: CommandContext, ...args: string[]): Promise<Result>;
}

/** The command cannot be carried out; the message is a sentence for the operator. */
export class Refusal extends Error {}

/** The command line is invalid; the message is a sentence for the operator. */
export class UsageError extends Error {}
