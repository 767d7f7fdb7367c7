import type { ListedFile } from './file.ts';
import type { SeqRange } from './listing-counters.ts';

/** An account's ready files in the order of their `seq`. All reads are strong: what a client was told of is listed. */
export interface ListingStore {
  /** Files by leaf, of the leaves of one group; a leaf without files may be absent. One read. */
  leaves(accountId: string, group: number): Promise<ReadonlyMap<number, number>>;

  /**
   * Some of the files with a `seq` in the range, from its newest or its oldest end.
   * @param limit  absent: as many as one read gives (1 MB).
   * @returns `rest`: the part of the range that was not read; absent when that is all.
   */
  files(
    accountId: string,
    range: SeqRange,
    from: { readonly end: 'newest' | 'oldest'; readonly limit?: number },
  ): Promise<{ files: ListedFile[]; rest?: SeqRange }>;
}
