import { ApiError } from '../errors.ts';
import type { Account } from './account.ts';
import type { AccountStore } from './account-store.ts';

/**
 * The account of a caller whose credential was good.
 * @throws ApiError `unauthorized` when it is gone: then so is what its credentials stood for.
 */
export async function getAccount(accounts: AccountStore, id: string): Promise<Account> {
  const account = await accounts.get(id);
  if (!account) throw new ApiError('unauthorized', { detail: 'the credential is good, its account is gone' });
  return account;
}
