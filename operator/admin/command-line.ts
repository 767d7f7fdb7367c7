import { parseArgs } from 'node:util';
import { type Command, UsageError } from './commands/command.ts';
import { isEdgeRequestId } from './commands/requests.ts';
import { COMMANDS, usageOf } from './commands.ts';

export interface CommandLine {
  readonly command: Command;
  readonly args: readonly string[];
  /** The service that `npm start` runs on this machine, instead of the stage on AWS. */
  readonly isLocal: boolean;
  readonly isJson: boolean;
  readonly isConfirmed: boolean;
  readonly isDryRun: boolean;
  readonly hours: number | undefined;
  /** Epoch milliseconds. */
  readonly until: number | undefined;
}

/** Parses the command line. @returns undefined for `--help`. @throws UsageError whose message says in a sentence what is wrong. */
export function parseCommandLine(argv: readonly string[]): CommandLine | undefined {
  const { values, positionals } = parse(argv);
  if (values.help) return undefined;
  const [name, ...args] = positionals;
  if (name === undefined) throw new UsageError('The command is missing: see --help.');
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}": see --help.`);
  const needed = command.arguments.filter((argument) => !argument.startsWith('[')).length;
  const isDryRun = values['dry-run'] ?? false;
  if (
    args.length < needed ||
    args.length > command.arguments.length ||
    (isDryRun && !command.takesDryRun) ||
    ((values.hours ?? values.until) !== undefined && !command.takesHours)
  ) {
    throw new UsageError(`The command is: ${usageOf(name, command)}`);
  }
  return {
    command,
    args,
    isLocal: values.local ?? false,
    isJson: values.json ?? false,
    isConfirmed: values.yes ?? false,
    isDryRun,
    hours: values.hours === undefined ? undefined : parseHours(values.hours),
    until: values.until === undefined ? undefined : parseTime(values.until),
  };
}

/** The logs are kept for 90 days at most. */
const HOURS_MAX = 90 * 24;

function parseHours(text: string): number {
  const hours = /^\d+$/.test(text) ? Number(text) : 0;
  if (hours < 1 || hours > HOURS_MAX)
    throw new UsageError(`--hours is a whole number from 1 to ${HOURS_MAX}, not "${text}".`);
  return hours;
}

/** A time as the lines of the logs show it, in UTC. */
function parseTime(text: string): number {
  const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?$/.test(text)
    ? Date.parse(`${text.replace(' ', 'T').replace('Z', '')}Z`)
    : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError(`--until is a time in UTC, such as 2026-11-20T03:30, not "${text}".`);
  return time;
}

function parse(argv: readonly string[]) {
  const flag = { type: 'boolean' } as const;
  const options = {
    help: flag,
    local: flag,
    json: flag,
    yes: flag,
    'dry-run': flag,
    hours: { type: 'string' },
    until: { type: 'string' },
  } as const;
  try {
    const { values, positionals } = parseArgs({
      // Ids are pasted: whoever pastes one that begins with a dash must not have to know that it would be an option.
      args: argv.filter((argument) => !isEdgeRequestId(argument)),
      options,
      allowPositionals: true,
    });
    return { values, positionals: [...positionals, ...argv.filter(isEdgeRequestId)] };
  } catch (error) {
    // Only the first sentence of Node's message: the others are hints for programmers.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}: see --help.`);
  }
}
