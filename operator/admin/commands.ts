import { audit } from './commands/audit.ts';
import type { Command } from './commands/command.ts';
import { deleteAccount } from './commands/delete-account.ts';
import { endSessions } from './commands/end-sessions.ts';
import { openCanary } from './commands/open-canary.ts';
import { reconcile } from './commands/reconcile.ts';
import { requests } from './commands/requests.ts';
import { setLimit } from './commands/set-limit.ts';
import { show } from './commands/show.ts';
import { restore, suspend } from './commands/suspend.ts';
import { takeDown } from './commands/take-down.ts';

/** Every command by its name. The help text and the table in docs/operate.md are made from this. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  show,
  requests,
  audit,
  suspend,
  restore,
  'end-sessions': endSessions,
  'set-limit': setLimit,
  'take-down': takeDown,
  'delete-account': deleteAccount,
  reconcile,
  'open-canary': openCanary,
};

/** The command line of a command: its name, arguments and options. */
export function usageOf(name: string, { arguments: args, takesDryRun, takesHours }: Command): string {
  const options = [
    ...(takesDryRun ? ['[--dry-run]'] : []),
    ...(takesHours ? ['[--hours <n>]', '[--until <time>]'] : []),
  ];
  return [name, ...args, ...options].join(' ');
}

export const OPTIONS: Readonly<Record<string, string>> = {
  '--local':
    'The service that `npm start` runs on this machine (with the same `DATA_DIR`), instead of the stage on AWS that `STAGE` names',
  '--json': 'One line of JSON instead of text',
  '--yes': 'Do not ask for confirmation; required without a terminal',
  '--dry-run': 'Only compare, and change nothing (`reconcile`)',
  '--hours <n>': 'How far to look back in the logs (`requests`, `audit`)',
  '--until <time>':
    'The time from which to look back, in UTC, such as `2026-11-20T03:30`; without it, now (`requests`, `audit`)',
  '--help': 'Show this text',
};

export const EXIT_CODES: Readonly<Record<string, string>> = {
  0: 'Done',
  1: 'Not done; stderr has the reason. Or differences were found and not corrected',
  2: 'The command line is wrong, or lacks `--yes`; nothing was done',
};

export function help(): string {
  const lines = (rows: Readonly<Record<string, string>>) =>
    Object.entries(rows).map(([what, meaning]) => `  ${what}\n      ${meaning}`);
  const commands = Object.entries(COMMANDS).map(([name, command]) => [usageOf(name, command), command.meaning]);
  return [
    'Usage: STAGE=<stage> npm run admin -- <command> [options]',
    '',
    'An <account> is an e-mail address or an account id.',
    '',
    'Commands:',
    ...lines(Object.fromEntries(commands)),
    'Options:',
    ...lines(OPTIONS),
    'Exit codes:',
    ...lines(EXIT_CODES),
  ].join('\n');
}
