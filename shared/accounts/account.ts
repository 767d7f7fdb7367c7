import { ApiError } from '../errors.ts';

/** A person who has logged in, and the books of what they store. */
export interface Account {
  /** UUIDv5 of the identity's issuer and `sub`. */
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
  /** Epoch milliseconds of the first login. */
  readonly createdAt: number;
  /** Bytes of ready files and of pending tickets (their reservations). */
  readonly storageUsedBytes: number;
  /** The number of ready files. */
  readonly fileCount: number;
  /** The `seq` of the next file: how many files the account has ever had. */
  readonly nextSeq: number;
  /** `createdAt` of the newest file that the account has ever had, in epoch milliseconds; 0 before the first. */
  readonly lastFileAt: number;
  /** The number of deleted files in each group of the listing (see `removed` in `shared/files/listing-counters.ts`). */
  readonly removed: ReadonlyMap<number, number>;
  /** Bytes sent on the last UTC day on which any were sent (`day`: days since 1970); absent before the account has sent any. */
  readonly sent?: { readonly day: number; readonly bytes: number };
  /** The storage limit that the operator set for this account, in bytes. When it is absent, the default applies. */
  readonly storageLimitBytes?: number;
  /** True when the operator suspended the account: its keys and sessions are refused. */
  readonly isSuspended: boolean;
}

/** A person as the identity provider describes them at login. */
interface IdentityProfile {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly pictureUrl?: string;
}

/** How many bytes an account may store: its own limit if the operator set one, else the default. */
export function storageLimitOf(account: Pick<Account, 'storageLimitBytes'>, defaultBytes: number): number {
  return account.storageLimitBytes ?? defaultBytes;
}

/**
 * Keeps accounts. Usage and counts of files change only in the transactions of `SettlementStore` and `ReleaseStore`, and when an operator
 * corrects them (`AuditStore.rewrite`).
 */
export interface AccountStore {
  /** Reads strongly; undefined when there is no such account. */
  get(id: string): Promise<Account | undefined>;
  /** Creates the account, or updates its profile; never changes its books. @param now  epoch milliseconds. */
  upsert(profile: IdentityProfile, now: number): Promise<Account>;
  /**
   * Counts bytes as sent on the day of `now` (epoch milliseconds). The write is tried only once, so the bytes are never counted twice. If
   * its answer is lost, they may not be counted. Does nothing when the account is gone.
   */
  countSent(id: string, bytes: number, now: number): Promise<void>;
  /**
   * Merges several entries of {@link Account.removed} into one. Their groups are adjacent, and all their files are deleted. Does nothing
   * when one of the entries has changed, so it is safe at any time and may be repeated.
   */
  mergeRemoved(id: string, entries: readonly (readonly [group: number, removed: number])[]): Promise<void>;
}

/**
 * The account of a caller whose credential is valid.
 * @throws ApiError `unauthorized` when the account is gone.
 */
export async function getAccount(accounts: AccountStore, id: string): Promise<Account> {
  const account = await accounts.get(id);
  if (!account) throw new ApiError('unauthorized', { detail: 'the credential is valid, but its account is gone' });
  return account;
}

/**
 * Creates the account at a person's first login, and updates its profile at every later one. This is one write that may be repeated. Two
 * logins at the same time make one account.
 * @returns the account. It may be suspended: then the login must be refused.
 */
export function upsertAccountAtLogin(
  accounts: AccountStore,
  profile: IdentityProfile,
  clock: () => number = Date.now,
): Promise<Account> {
  return accounts.upsert(profile, clock());
}
