import { type CommandLine, parseCommandLine } from './command-line.ts';
import { type Result, UsageError } from './commands/command.ts';
import { help } from './commands.ts';
import { confirm } from './confirm.ts';
import { enterEnvironment } from './environment.ts';
import { sentenceFor } from './sentence.ts';

/** `npm run admin -- <command>`: what an operator does to accounts and files, on AWS or on this machine. */

const PATIENCE_MS = 3_600_000;

// What the use cases log is no part of the answer, and stdout is for that alone.
console.log = console.error;
process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let isLocal = false;
  try {
    const commandLine = parseCommandLine(argv);
    if (!commandLine) {
      process.stdout.write(`${help()}\n`);
      return 0;
    }
    isLocal = commandLine.target.isLocal;
    const { json, text, isBad = false } = await run(commandLine);
    process.stdout.write(`${commandLine.isJson ? JSON.stringify(json) : text}\n`);
    return isBad ? 1 : 0;
  } catch (error) {
    process.stderr.write(`${sentenceFor(error, { isLocal })}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run({ command, args, target, isConfirmed, isDryRun }: CommandLine): Promise<Result> {
  await enterEnvironment(target);
  const { stores, cdnUrls, defaultStorageLimitBytes } = await import('./commands/stores.ts');
  const session = {
    stores,
    cdnUrls,
    defaultStorageLimitBytes,
    isDryRun,
    deadline: { deadlineAt: Date.now() + PATIENCE_MS },
    confirm: async (question: string) => {
      if (!isConfirmed) await confirm(question, { input: process.stdin, output: process.stderr });
    },
  };
  return command.run(session, ...args);
}
