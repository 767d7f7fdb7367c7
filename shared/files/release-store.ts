import type { Deadline } from '../time-limit.ts';
import type { LeftoverRow, PendingTicket, ReadyFile } from './file.ts';

/**
 * The transactions that give storage back: all of each happens, or nothing. `changed` means that the row was in another
 * state by then, and nothing happened.
 */
export interface ReleaseStore {
  /** A file is no file any more: it leaves the listing and the counts, and its size is free. @param dueAt  see FileRow. */
  releaseFile(file: ReadyFile, work: { dueAt: number }, deadline: Deadline): Promise<'released' | 'changed'>;

  /**
   * The reservation of a ticket ends, unless the row's deadline is another than that of `ticket`: then the ticket was renewed
   * since it was read, and nothing happens. A `cancelled` or `refused` row keeps its deadline, until which bytes may still arrive by the
   * ticket's URL. A `deleting` one is the sweeper's to finish.
   */
  releaseTicket(
    ticket: PendingTicket,
    state: LeftoverRow['state'],
    deadline: Deadline,
  ): Promise<'released' | 'changed'>;
}
