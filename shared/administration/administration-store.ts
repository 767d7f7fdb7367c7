import type { FileRow, ListedFile, Ticket } from '../files/file.ts';
import type { Seal } from '../files/sealed-names.ts';
import type { Deadline } from '../time-limit.ts';

/** What only the operator does with accounts. */
export interface AdministrationStore {
  /** Finds the ids of all accounts with this e-mail address; upper and lower case count as equal. Reads the whole table. */
  idsOfEmail(email: string): Promise<string[]>;
  /** Suspends the account. From then on no key, session or file is added to it. @returns false when there is no such account. */
  suspend(id: string): Promise<boolean>;
  /** Ends the suspension, unless the deletion of the account has begun. */
  restore(id: string): Promise<'restored' | 'being deleted' | 'absent'>;
  /** @param bytes  if undefined, the default limit holds again. @returns false when there is no such account. */
  setStorageLimit(id: string, bytes: number | undefined): Promise<boolean>;
  /** Suspends the account for good. @returns false when there is no such account. */
  beginDeletion(id: string): Promise<boolean>;
  /** Removes the rows of the leaves, their seals, and the records of `Idempotency-Key`s. */
  removeRecords(id: string): Promise<void>;
  /** Removes the account's row, if its deletion has begun. */
  remove(id: string): Promise<void>;
}

/** An API key without its secret. */
interface KeyReference {
  readonly hash: string;
  readonly id: string;
}

/** The API keys of one account, for the operator. */
export interface KeyMarkStore {
  /** Reads all keys strongly. So no key is missed that existed when this was called. */
  all(accountId: string): AsyncIterable<KeyReference>;
  /**
   * Marks a key as suspended, or removes the mark. May be repeated; does nothing for a key that is gone. @returns false, without a change,
   * when the account is gone, or its own state is not `isSuspended`.
   */
  mark(accountId: string, key: KeyReference, isSuspended: boolean, deadline: Deadline): Promise<boolean>;
}

/** The books of an account, which only transactions change. */
export interface Books {
  readonly storageUsedBytes: number;
  readonly fileCount: number;
  readonly nextSeq: number;
  /** Epoch milliseconds. */
  readonly lastFileAt: number;
  /** The number of removed files by group; zero and absent are the same. */
  readonly removedByGroup: ReadonlyMap<number, number>;
  /** The bitmap of the removed files by leaf; zero and absent are the same. */
  readonly removedByLeaf: ReadonlyMap<number, bigint>;
}

/** The books as they are stored. */
export interface RecordedBooks extends Books {
  readonly nextSeq: number;
  /** Every transaction that changes the books raises this number. It is 0 before the first of them. */
  readonly revision: number;
}

/** What the tables hold for searches (see `shared/files/sealed-names.ts`). */
export interface Sealing {
  readonly seals: ReadonlyMap<number, Seal>;
  /** The leaves whose seals the sweeper has yet to write. */
  readonly unfinished: ReadonlySet<number>;
}

/**
 * What an audit reads, and what `reconcile` writes to correct the books and the seals. These methods read whole partitions or tables, so no
 * request uses them.
 */
export interface AuditStore {
  accountIds(): AsyncIterable<string>;
  /** Every file row of an account, by strong reads. */
  rows(accountId: string): AsyncIterable<FileRow>;
  /** Every ticket of an account, by strong reads. */
  tickets(accountId: string): AsyncIterable<Ticket>;
  /** The newest files and tickets, newest first. A file and its ticket have the same id, and count as one. */
  recent(accountId: string, count: number): Promise<(FileRow | Ticket)[]>;
  /** Every file that the listing shows. */
  listed(accountId: string): AsyncIterable<ListedFile>;
  /** Undefined when there is no such account. */
  books(accountId: string): Promise<RecordedBooks | undefined>;
  /** The seals of an account's leaves, and the leaves whose seals the sweeper has yet to write. Reads strongly. */
  sealing(accountId: string): Promise<Sealing>;
  /** Removes the seal of a leaf, if there is one, and makes the sweeper write a new one. Safe at any time. */
  unseal(accountId: string, leaf: number, deadline: Deadline): Promise<void>;
  /**
   * Replaces the books, if nothing has changed them since `found` was read.
   * @returns false when the books have changed. Then some leaves may be corrected already. The next audit finds the others.
   */
  rewrite(accountId: string, found: RecordedBooks, computed: Books, deadline: Deadline): Promise<boolean>;
}
