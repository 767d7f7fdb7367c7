import { restoreAccount, suspendAccount } from '../../../shared/administration/suspend-account.ts';
import { type Command, Refusal } from './command.ts';
import { findAccount } from './find-account.ts';
import { nameOf, several } from './text.ts';

/** Suspends an account; its files stay. */
export const suspend: Command = {
  arguments: ['<account>'],
  meaning:
    'Refuse the keys and the login of the account from the next request on, and end its sessions; its files stay',
  async run(context, name) {
    const account = await findAccount(context, name ?? '');
    const { keys, sessions } = await context.logs.audited('account_suspended', { account_id: account.id }, async () => {
      const suspended = await suspendAccount(context.stores, account.id, context.deadline);
      if (!suspended) throw new Refusal('Another operator restored or deleted the account at the same time.');
      return suspended;
    });
    return {
      json: { id: account.id, suspended: true, keys, sessions },
      text: `${nameOf(account)} is suspended: ${several(keys, 'key')} refused, ${several(sessions, 'session')} ended.`,
    };
  },
};

/** Ends the suspension of an account. */
export const restore: Command = {
  arguments: ['<account>'],
  meaning: 'End a suspension: the keys of the account work again, and its owner may log in again',
  async run(context, name) {
    const account = await findAccount(context, name ?? '');
    const keys = await context.logs.audited('account_restored', { account_id: account.id }, async () => {
      const restored = await restoreAccount(context.stores, account.id, context.deadline);
      if (restored === 'being deleted')
        throw new Refusal('The deletion of this account has begun, and cannot be taken back.');
      if (restored === undefined)
        throw new Refusal('Another operator suspended or deleted the account at the same time.');
      return restored;
    });
    return {
      json: { id: account.id, suspended: false, keys },
      text: `${nameOf(account)} is restored: ${several(keys, 'key')} accepted again. Its sessions stay ended: the owner has to log in again.`,
    };
  },
};
