import type { MarkedCredentials } from '../../shared/accounts/mark-credentials.ts';
import { restoreAccount } from '../../shared/accounts/restore-account.ts';
import { suspendAccount } from '../../shared/accounts/suspend-account.ts';
import { type Command, Refusal, type Result } from '../command.ts';
import { findAccount } from '../find-account.ts';
import { nameOf, several } from '../text.ts';

/** Closes an account; its files stay. */
export const suspend: Command = {
  arguments: ['<account>'],
  meaning: 'Refuse its keys, its sessions and its login from the next request on; its files stay',
  async run(session, name) {
    const account = await findAccount(session, name ?? '');
    const marked = await suspendAccount(session.stores, account.id, session.deadline);
    if (!marked) throw new Refusal('Somebody restored the account at the same time.');
    return result(account, true, marked);
  },
};

/** Opens it again. */
export const restore: Command = {
  arguments: ['<account>'],
  meaning: 'Take a suspension back: its keys and sessions work again',
  async run(session, name) {
    const account = await findAccount(session, name ?? '');
    const marked = await restoreAccount(session.stores, account.id, session.deadline);
    if (marked === 'being deleted')
      throw new Refusal('The deletion of this account has begun, and cannot be taken back.');
    if (!marked) throw new Refusal('Somebody suspended the account at the same time.');
    return result(account, false, marked);
  },
};

function result(
  account: { readonly id: string; readonly email: string },
  isSuspended: boolean,
  { keys, sessions }: MarkedCredentials,
): Result {
  const [state, are] = isSuspended ? ['suspended', 'are refused'] : ['restored', 'are accepted again'];
  return {
    json: { id: account.id, suspended: isSuspended, keys, sessions },
    text: `${nameOf(account)} is ${state}: ${several(keys, 'key')} and ${several(sessions, 'session')} ${are}.`,
  };
}
