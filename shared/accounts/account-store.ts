import type { Account, Profile } from './account.ts';

/** Where accounts are kept. Usage and counts change only in the transactions of the settlement and release stores. */
export interface AccountStore {
  /** As of now (a strong read); undefined when there is none. */
  get(id: string): Promise<Account | undefined>;
  /** Creates the account, or renews its profile; never touches its books. @param now  epoch milliseconds. */
  upsert(profile: Profile, now: number): Promise<Account>;
  /**
   * Counts bytes as sent on the day of `now` (epoch milliseconds). Tried once, so that they never count twice: after a lost
   * answer they may be counted or not. Nothing happens when the account is gone.
   */
  countSent(id: string, bytes: number, now: number): Promise<void>;
  /** Forgets those listing groups of `groups` that are still without files. Harmless at any time, and twice. */
  dropEmptyGroups(id: string, groups: readonly number[]): Promise<void>;
}
