import type { Account, Profile } from './account.ts';
import type { AccountStore } from './account-store.ts';

/**
 * The account of somebody who just logged in: made at the first login, its profile renewed at every later one. One write,
 * so it is harmless twice and two logins at once make one account.
 * @returns the account, which may be suspended: then the login is to be refused.
 */
export function upsertAccountAtLogin(
  accounts: AccountStore,
  profile: Profile,
  clock: () => number = Date.now,
): Promise<Account> {
  return accounts.upsert(profile, clock());
}
