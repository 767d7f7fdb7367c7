import type { Readable, Writable } from 'node:stream';
import { ApiError, isUnavailable } from '../../shared/errors.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { type CommandContext, Refusal, type Result, UsageError } from './commands/command.ts';
import { jsonLine, printable } from './commands/text.ts';
import { help } from './commands.ts';
import { confirm } from './confirm.ts';
import { enterEnvironment } from './environment.ts';
import { AuditTrailError, logsOf } from './logs/stage-logs.ts';

/** How long a command keeps repeating transactions that conflict with other writers. */
const DEADLINE_MS = 3_600_000;

/** Where a command reads the operator's answers, and where it writes. */
interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Runs the command of a command line and prints the result. This function sets the environment variables of the process and loads the
 * stores with them. So a process can work on one deployment only.
 * @returns the exit code.
 */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  let isLocal = false;
  try {
    const commandLine = parseCommandLine(argv);
    if (!commandLine) {
      terminal.stdout.write(`${help()}\n`);
      return 0;
    }
    isLocal = commandLine.isLocal;
    const { json, text, isBad = false } = await run(commandLine, terminal);
    terminal.stdout.write(`${commandLine.isJson ? jsonLine(json) : text}\n`);
    return isBad ? 1 : 0;
  } catch (error) {
    terminal.stderr.write(`${sentenceFor(error, { isLocal })}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(
  { command, args, isLocal, isConfirmed, isDryRun, hours, until }: CommandLine,
  { stdin, stderr }: Terminal,
): Promise<Result> {
  const stage = await enterEnvironment({ isLocal });
  const { stores, cdnUrls, defaultStorageLimitBytes } = await import('./commands/stores.ts');
  const context: CommandContext = {
    stores,
    cdnUrls,
    defaultStorageLimitBytes,
    isDryRun,
    hours,
    until,
    logs: logsOf(stage, (line) => stderr.write(`${printable(line)}\n`)),
    deadline: { deadlineAt: Date.now() + DEADLINE_MS },
    confirm: async (question: string) => {
      if (!isConfirmed) await confirm(question, { input: stdin, output: stderr });
    },
  };
  return command.run(context, ...args);
}

/** Explains an error in one sentence for the operator. */
function sentenceFor(error: unknown, { isLocal }: { isLocal: boolean }): string {
  if (error instanceof Refusal || error instanceof UsageError || error instanceof AuditTrailError) return error.message;
  if (error instanceof ApiError && error.code === 'not_found')
    return 'Another process has deleted the account or file meanwhile.';
  const causes = causesOf(error);
  if (isLocal && causes.some(({ code }) => code === 'ECONNREFUSED')) {
    return 'The service is not running: start it with "npm start".';
  }
  const [{ name, message }] = causes.toReversed() as [Cause];
  if (name === 'CredentialsProviderError') {
    return `There are no AWS credentials (${firstLine(message)}): log in with the AWS CLI, or set AWS_PROFILE.`;
  }
  if (isUnavailable(error)) {
    return `AWS cannot be reached, or is too busy (${name}: ${firstLine(message)}): try again.`;
  }
  return `The command failed: ${name}: ${firstLine(message)}`;
}

type Cause = Error & { readonly code?: string };

/** The error and its chain of causes, outermost first. */
function causesOf(error: unknown): Cause[] {
  if (!(error instanceof Error)) return [new Error(String(error))];
  return error.cause === undefined ? [error] : [error, ...causesOf(error.cause)];
}

function firstLine(text: string): string | undefined {
  return text.split('\n', 1)[0];
}
