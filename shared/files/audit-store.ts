import type { Deadline } from '../time-limit.ts';
import type { FileRow, ListedFile } from './file.ts';

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
