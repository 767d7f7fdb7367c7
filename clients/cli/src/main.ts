import { constants } from 'node:os';
import { Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander';
import { FileHosting } from '../../typescript/src/index.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type Account, findAccount } from './account.ts';
import { completion, SHELLS } from './completion.ts';
import { Exit, Failure, printFailure } from './failure.ts';
import { list, open, remove } from './files.ts';
import { get } from './get.ts';
import { login } from './login.ts';
import { me } from './me.ts';
import { clearLine, note } from './terminal.ts';
import { upload } from './upload.ts';
import { Waits } from './waits.ts';

const stop = new AbortController();
/** The options of every call of a command that shows no progress. */
const calls = { signal: stop.signal, onWait: new Waits().mention };

/** Makes the action of a command that needs an account: finds the account, then calls `run`. */
function withAccount<Args extends unknown[]>(
  run: (service: { hosting: FileHosting; account: Account }, ...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const account = await findAccount();
    await run({ hosting: new FileHosting(account), account }, ...args);
  };
}

const ABOUT = `The commands have a help of their own, such as: file-hosting upload --help

FILE_HOSTING_URL and FILE_HOSTING_KEY are used instead of what login has stored.

Exit codes: 0 for success, 1 for a failure, 2 for a wrong command line. After a signal, such as Ctrl-C: 128 plus its number.`;

const examples = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;

/**
 * Commander puts a description beside its term, and does not wrap it in a column narrower than this, so a narrow terminal would break its
 * words. There it is below the term.
 */
const DESCRIPTION_WIDTH = 40;

const formatItem: Help['formatItem'] = (term, termWidth, description, helper) => {
  const width = helper.helpWidth ?? 80;
  if (width - termWidth - 4 >= DESCRIPTION_WIDTH)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  return `  ${term}\n${helper.boxWrap(description, width - 6).replace(/^/gm, '      ')}`;
};

function countFrom(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 1 on.');
}

function commands(): Command {
  const program = new Command('file-hosting')
    .description(packageJson.description)
    .version(packageJson.version)
    .exitOverride()
    .configureHelp({ formatItem, minWidthToWrap: 20 })
    .showHelpAfterError('(file-hosting --help lists the commands)')
    .addHelpText('after', ({ command }) => {
      const help = command.createHelp();
      return `${examples('file-hosting login --url https://files.example.com', 'file-hosting upload photo.jpg')}\n${help.boxWrap(ABOUT, process.stdout.columns || 80)}`;
    });
  program
    .command('login')
    .description('ask for an API key, and store it for this user')
    .option('--url <address>', 'the address of the service')
    .addHelpText('after', examples('file-hosting login --url https://files.example.com'))
    .action((flags) => login(flags, stop.signal));
  addUpload(program);
  addFileCommands(program);
  program
    .command('me')
    .description('show which service and key are used')
    .addHelpText('after', examples('file-hosting me'))
    .action(withAccount(({ hosting, account }) => me(hosting, account, calls)));
  program
    .command('completion')
    .description(`print a script that completes this command in a shell: ${SHELLS.join(', ')}`)
    .argument('<shell>')
    .addHelpText('after', examples('source <(file-hosting completion zsh)'))
    .action((shell) => void process.stdout.write(completion(program, shell)));
  return program;
}

const DOWNLOAD = 'print links that save the file instead of showing it';

function addUpload(program: Command): void {
  program
    .command('upload')
    .description('upload files, folders, or standard input (-), and print their links')
    .argument('<files...>')
    .option('-r, --recursive', 'upload the files in folders')
    .option('-a, --all', 'with --recursive: also files such as .git, .env, .DS_Store')
    .option('-n, --name <name>', 'the name of the file, for one file or a pipe')
    .option('-t, --type <type>', 'the media type, instead of the usual one for the name')
    .option('--idempotency-key <key>', 'for one file: a repeated command with the same key makes no second file')
    .option('-d, --download', DOWNLOAD)
    .option('--json', 'print one JSON object a line instead of links')
    .option('-c, --copy', 'copy the links to the clipboard')
    .addHelpText(
      'after',
      examples(
        'file-hosting upload photo.jpg notes.pdf',
        'file-hosting upload --recursive album',
        'pg_dump shop | file-hosting upload - --name shop.sql',
      ),
    )
    .action(withAccount(({ hosting }, files, flags) => upload(hosting, files, flags, stop.signal)));
}

/** The commands for files that are already in the service. */
function addFileCommands(program: Command): void {
  program
    .command('list')
    .alias('ls')
    .description('list the newest files')
    .option('-s, --search <text>', 'only files with this in their names')
    .option('-l, --limit <count>', 'how many files (default: 50)', countFrom)
    .addOption(new Option('-a, --all', 'all files').conflicts('limit'))
    .option('-d, --download', DOWNLOAD)
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', examples('file-hosting list --search photo', 'file-hosting list --all --json'))
    .action(withAccount(({ hosting }, flags) => list(hosting, flags, calls)));
  program
    .command('get')
    .description('download files, and print where they were saved')
    .argument('<files...>', 'their ids, links or names')
    .option('-o, --output <path>', 'a file, a folder, or - for standard output')
    .option('-f, --force', 'replace a file that exists')
    .addHelpText(
      'after',
      examples(
        'file-hosting get photo.jpg',
        'file-hosting get backup.tar -o - | tar x',
        'file-hosting get a.txt b.txt -o notes',
      ),
    )
    .action(withAccount(({ hosting }, files, flags) => get(hosting, files, flags, calls)));
  program
    .command('open')
    .description('open a file in the browser')
    .argument('<file>', 'its id, link or name')
    .option('-d, --download', 'save it instead of showing it')
    .addHelpText('after', examples('file-hosting open photo.jpg'))
    .action(withAccount(({ hosting }, file, flags) => open(hosting, file, flags, calls)));
  program
    .command('rm')
    .description('delete files, after you have confirmed it')
    .argument('<files...>', 'their ids, links or names')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', examples('file-hosting rm photo.jpg', 'file-hosting rm --yes draft.txt'))
    .action(withAccount(({ hosting }, files, flags) => remove(hosting, files, flags, calls)));
}

/** @returns the exit code. */
function codeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const reason = stop.signal.aborted ? stop.signal.reason : error;
  if (isCancelled) note('Cancelled.');
  if (reason instanceof Exit) return reason.exitCode;
  printFailure(error);
  return error instanceof Failure ? error.exitCode : 1;
}

/**
 * A second signal within this time comes from the same Ctrl-C. The terminal sends one signal to npx and one to the command. If the shell of
 * npx is Bash, npx passes its signal on, so the command gets two.
 */
const SAME_SIGNAL_MS = 500;
let stoppedAt = 0;
let isCancelled = false;

/**
 * The first signal aborts the uploads, which then remove what they have left in the service. The second signal ends the process at once.
 */
function stopAt(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
  process.on(signal, () => {
    const exit = new Exit(128 + constants.signals[signal]);
    if (Date.now() - stoppedAt < SAME_SIGNAL_MS) return;
    if (stop.signal.aborted) process.exit(exit.exitCode);
    stoppedAt = Date.now();
    isCancelled = true;
    // First, because this removes the progress from the terminal.
    stop.abort(exit);
    clearLine();
    note(signal === 'SIGINT' ? 'Cancelling. Press Ctrl-C again to end at once.' : 'Cancelling.');
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) stopAt(signal);
/**
 * Ends the command when writing to standard output fails. The failure may come after the last statement below, so the exit code is set here
 * as well.
 */
function stopWithoutOutput(error: NodeJS.ErrnoException): void {
  // EPIPE: the program that reads our output, such as `head`, has closed the pipe.
  const isClosed = error.code === 'EPIPE';
  if (!isClosed && !stop.signal.aborted)
    printFailure(new Failure(`Cannot write to standard output: ${error.message}`, 'Check where the output goes.'));
  const exit = new Exit(isClosed ? 128 + constants.signals.SIGPIPE : 1);
  stop.abort(exit);
  process.exitCode = exit.exitCode;
}
process.stdout.on('error', stopWithoutOutput);

try {
  await commands().parseAsync();
} catch (error) {
  process.exitCode = codeOf(error);
}
// A pipe on standard input that was not read to its end would keep the process running.
process.stdin.destroy();
