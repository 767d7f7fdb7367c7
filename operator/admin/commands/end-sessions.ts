import type { Command } from './command.ts';
import { findAccount } from './find-account.ts';
import { nameOf, several } from './text.ts';

/** Ends all sessions of an account, for example after a cookie was stolen. The owner has to log in again. */
export const endSessions: Command = {
  arguments: ['<account>'],
  meaning:
    'Log out every browser of the account, from the next request on. Its keys go on working, and its owner may log in again',
  async run(context, name) {
    const account = await findAccount(context, name ?? '');
    const sessions = await context.logs.audited('sessions_ended', { account_id: account.id }, () =>
      context.stores.sessions.removeAll(account.id),
    );
    return {
      json: { id: account.id, sessions },
      text: `${several(sessions, 'session')} of ${nameOf(account)} ended.`,
    };
  },
};
