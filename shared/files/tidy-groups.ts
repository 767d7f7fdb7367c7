import type { AccountStore } from '../accounts/account-store.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/**
 * Forgets the listing groups of an account whose files are all gone, so that its row does not grow with every file it ever
 * had. Called once in 8,192 uploads; if it fails or we die before, the next time does it.
 */
export async function tidyGroups(accounts: AccountStore, accountId: string): Promise<void> {
  try {
    await briefly(async () => {
      const account = await accounts.get(accountId);
      const empty = [...(account?.groups ?? [])].flatMap(([group, count]) => (count === 0 ? group : []));
      if (empty.length > 0) await accounts.dropEmptyGroups(accountId, empty);
    });
  } catch (error) {
    log('warn', 'empty listing groups not dropped; the next group drops them', { accountId, ...describeError(error) });
  }
}
