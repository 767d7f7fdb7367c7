import { isIP } from 'node:net';
import type { SavedQueryName } from '../../infra/settings/log-queries.ts';
import { isUuid } from '../../shared/ids.ts';
import { type Command, type CommandContext, Refusal } from './command.ts';
import { findAccount } from './find-account.ts';
import { rowLine } from './text.ts';

/** The part of a key that its owner sees later. If the whole key was given, no more of it is used. */
const KEY_PREFIX = /^svc_(?:live|test)_\w{3}/;

/** Finds the lines of requests by what a person can tell: "my upload failed at 03:00". */
export const requests: Command = {
  arguments: ['<account | key prefix | request id | file id | address>'],
  meaning: 'Show what was asked of the service and what it answered, and why, in the last 24 hours',
  takesHours: true,
  async run(context, what = '') {
    const found = await Promise.all(
      (await queriesFor(context, what)).map(([name, value]) => context.logs.run(name, value, context.hours ?? 24)),
    );
    const rows = found.flat();
    return { json: { requests: rows }, text: rows.length > 0 ? rows.map(rowLine).join('\n') : 'No request was found.' };
  },
};

async function queriesFor(context: CommandContext, what: string): Promise<[SavedQueryName, string][]> {
  const [prefix] = KEY_PREFIX.exec(what) ?? [];
  if (prefix !== undefined) return [['by-key-prefix', prefix]];
  if (what.includes('@')) return [['by-account', (await findAccount(context, what)).id]];
  if (isUuid(what)) return [['by-request-id', what]];
  if (isIP(what) !== 0) {
    return [
      ['by-client-address', what],
      ['edge-by-client-address', what],
    ];
  }
  // The edge's own ids are longer than any of ours.
  if (/^[\w=-]{40,128}$/.test(what)) return [['edge-by-request-id', what]];
  throw new Refusal(`"${what}" is no account, key prefix, request id, file id or address.`);
}
