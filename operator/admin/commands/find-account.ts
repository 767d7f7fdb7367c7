import type { Account } from '../../../shared/accounts/account.ts';
import { isUuid } from '../../../shared/ids.ts';
import { type CommandContext, Refusal } from './command.ts';

/**
 * Finds an account by its id or its e-mail address.
 * @throws Refusal when there is no such account, or when several accounts have the address: an address may have belonged to two people.
 */
export async function findAccount({ stores }: CommandContext, name: string): Promise<Account> {
  const ids = isUuid(name) ? [name] : await stores.administration.idsOfEmail(name);
  if (ids.length > 1)
    throw new Refusal(`Several accounts have the address ${name}; name one by its id: ${ids.join(', ')}.`);
  const account = ids[0] === undefined ? undefined : await stores.accounts.get(ids[0]);
  if (!account) throw new Refusal(`There is no account ${name}.`);
  return account;
}
