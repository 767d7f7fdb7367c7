import { ApiError } from '../errors.ts';

/** Whose files they are: a person who logged in once, and the books of what they store. */
export interface Account {
  /** UUIDv5 of the identity's issuer and `sub`. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
  /** Epoch milliseconds of the first login. */
  readonly createdAt: number;
  /** Bytes of ready files and of live reservations. */
  readonly storageUsedBytes: number;
  /** Ready files. */
  readonly fileCount: number;
  /** Ready files by listing group (see `shared/files/listing-counters.ts`); a group without files may be absent. */
  readonly groups: ReadonlyMap<number, number>;
  /** Bytes sent on the last UTC day (in days since 1970) on which any were; absent before the first. */
  readonly sent?: { readonly day: number; readonly bytes: number };
  /** The operator's exception for this account, in bytes. */
  readonly storageLimitBytes?: number;
  /** True when the operator closed the account: its keys and sessions are refused. */
  readonly isSuspended: boolean;
}

/** Who somebody is, as the identity provider says at login. */
interface Profile {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
}

/** How many bytes an account may store: the operator's exception for it, else everybody's limit. */
export function storageLimitOf(account: Pick<Account, 'storageLimitBytes'>, defaultBytes: number): number {
  return account.storageLimitBytes ?? defaultBytes;
}

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

/**
 * The account of a caller whose credential was good.
 * @throws ApiError `unauthorized` when it is gone: then so is what its credentials stood for.
 */
export async function getAccount(accounts: AccountStore, id: string): Promise<Account> {
  const account = await accounts.get(id);
  if (!account) throw new ApiError('unauthorized', { detail: 'the credential is good, its account is gone' });
  return account;
}

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
