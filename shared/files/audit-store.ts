import type { FileRow, ListedFile } from './file.ts';

/** What the books say, as far as the transactions keep them. */
export interface Books {
  readonly storageUsedBytes: number;
  readonly fileCount: number;
  /** Of groups and leaves, zero and absent are the same. */
  readonly groups: ReadonlyMap<number, number>;
  readonly leaves: ReadonlyMap<number, number>;
}

/** For those who recompute what the transactions keep, and for no request: these read whole tables. */
export interface AuditStore {
  accountIds(): AsyncIterable<string>;
  /** Every file row of an account, strongly read. */
  rows(accountId: string): AsyncIterable<FileRow>;
  /** Every file the listing would show. */
  listed(accountId: string): AsyncIterable<ListedFile>;
  /** Undefined when there is no such account. */
  books(accountId: string): Promise<Books | undefined>;
  /**
   * Writes the books anew.
   * @returns false when the account's row was not as in `found` any more; then the account is untouched.
   */
  rewrite(accountId: string, found: Books, computed: Books): Promise<boolean>;
}
