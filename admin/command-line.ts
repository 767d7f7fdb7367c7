import { parseArgs } from 'node:util';
import { DEFAULT_STAGE, STAGES } from '../infra/settings/stage.ts';
import { type Command, UsageError } from './commands/command.ts';
import { COMMANDS, usageOf } from './commands.ts';
import type { Target } from './environment.ts';

export interface CommandLine {
  readonly command: Command;
  readonly args: readonly string[];
  readonly target: Target;
  readonly isJson: boolean;
  readonly isConfirmed: boolean;
  readonly isDryRun: boolean;
}

/** Parses the command line. @returns undefined for `--help`. @throws UsageError with a sentence about what is wrong. */
export function parseCommandLine(argv: readonly string[]): CommandLine | undefined {
  const { values, positionals } = parse(argv);
  if (values.help) return undefined;
  const [name, ...args] = positionals;
  if (name === undefined) throw new UsageError('Which command? See --help.');
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command "${name}": see --help.`);
  const needed = command.arguments.filter((argument) => !argument.startsWith('[')).length;
  const isDryRun = values['dry-run'] ?? false;
  if (args.length < needed || args.length > command.arguments.length || (isDryRun && !command.takesDryRun)) {
    throw new UsageError(`The command is: ${usageOf(name, command)}`);
  }
  return {
    command,
    args,
    target: targetOf(values),
    isJson: values.json ?? false,
    isConfirmed: values.yes ?? false,
    isDryRun,
  };
}

function parse(argv: readonly string[]) {
  const flag = { type: 'boolean' } as const;
  const options = {
    help: flag,
    local: flag,
    json: flag,
    yes: flag,
    'dry-run': flag,
    stage: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    // Only the first sentence of Node's message: the others are hints for programmers.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}: see --help.`);
  }
}

function targetOf({ local, stage }: { local?: boolean; stage?: string }): Target {
  if (local && stage !== undefined)
    throw new UsageError('--local and --stage exclude each other: the local service has one stage.');
  if (local) return { isLocal: true };
  const found = STAGES.find((candidate) => candidate === (stage ?? DEFAULT_STAGE));
  if (!found) throw new UsageError(`A stage is ${STAGES.join(' or ')}, not "${stage}".`);
  return { isLocal: false, stage: found };
}
