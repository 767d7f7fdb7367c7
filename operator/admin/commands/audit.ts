import { isUuid } from '../../../shared/ids.ts';
import type { Command } from './command.ts';
import { findAccount } from './find-account.ts';
import { rowLines } from './text.ts';

const EVENTS_MAX = 500;

/** Shows who did what: logins, keys, sessions, and what operators did. */
export const audit: Command = {
  arguments: ['<account>'],
  meaning:
    'Show the audit trail of an account for the last 90 days: logins, keys made and revoked, sessions ended, and what operators did',
  takesHours: true,
  async run(context, name = '') {
    // An id is not looked up, because a deleted account has no row any more, but still has lines in the audit trail.
    const id = isUuid(name) ? name : (await findAccount(context, name)).id;
    const { logs, hours = 90 * 24, until } = context;
    const having = { message: 'audit', account_id: id };
    const { rows, isCut } = await logs.search({ of: 'service', having, most: EVENTS_MAX, hours, until });
    return {
      json: { id, events: rows, is_cut: isCut },
      text: rowLines(rows, { none: 'No event was found.', isCut }),
    };
  },
};
