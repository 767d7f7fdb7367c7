import type { FileRow, ListedFile } from '../files/file.ts';
import type { Deadline } from '../time-limit.ts';

/** What the operator alone does with accounts; no function has these grants. */
export interface AdministrationStore {
  /** The ids of all accounts with this e-mail address, in upper or lower case. Reads the whole table. */
  idsOfEmail(email: string): Promise<string[]>;
  /** From here on nothing is added to the account: no key, no session, no file. @returns false when it is not there. */
  suspend(id: string): Promise<boolean>;
  /** From here on it may be added to again. A deletion that has begun is not taken back. */
  restore(id: string): Promise<'restored' | 'being deleted' | 'absent'>;
  /** @param bytes  undefined takes the exception away. @returns false when the account is not there. */
  setStorageLimit(id: string, bytes: number | undefined): Promise<boolean>;
  /** Suspends the account for good. @returns false when it is not there. */
  beginDeletion(id: string): Promise<boolean>;
  /** Removes what is kept besides files, keys and sessions: listing counters, remembered `Idempotency-Key`s. */
  removeRecords(id: string): Promise<void>;
  /** Removes the account, if its deletion has begun. */
  remove(id: string): Promise<void>;
}

/** An API key, named without its secret. */
interface KeyReference {
  readonly hash: string;
  readonly id: string;
}

/** The API keys of one account, for the operator. */
export interface KeyMarkStore {
  /** All of them, by strong reads: none that was there at the call is missed. */
  all(accountId: string): AsyncIterable<KeyReference>;
  /**
   * Marks a key as refused, or takes the mark away; harmless twice, and for one that is gone.
   * @returns false, and changes nothing, when the account itself is not suspended (or not restored) any more.
   */
  mark(accountId: string, key: KeyReference, isSuspended: boolean, deadline: Deadline): Promise<boolean>;
}

/** What the books say, as far as the transactions keep them. */
export interface Books {
  readonly storageUsedBytes: number;
  readonly fileCount: number;
  /** Of groups and leaves, zero and absent are the same. */
  readonly groups: ReadonlyMap<number, number>;
  readonly leaves: ReadonlyMap<number, number>;
}

/** Books as they were read. */
export interface RecordedBooks extends Books {
  /** Raised by every transaction that changes the account's books; 0 before the first. */
  readonly revision: number;
}

/** For those who recompute what the transactions keep, and for no request: these read whole tables. */
export interface AuditStore {
  accountIds(): AsyncIterable<string>;
  /** Every file row of an account, strongly read. */
  rows(accountId: string): AsyncIterable<FileRow>;
  /** Every file the listing would show. */
  listed(accountId: string): AsyncIterable<ListedFile>;
  /** Undefined when there is no such account. */
  books(accountId: string): Promise<RecordedBooks | undefined>;
  /**
   * Writes the books anew, if nothing has changed them since `found` was read.
   * @returns false when something has. Then what was written so far is right, and the next audit finds the rest.
   */
  rewrite(accountId: string, found: RecordedBooks, computed: Books, deadline: Deadline): Promise<boolean>;
}
