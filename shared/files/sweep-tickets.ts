import { eachOf } from '../each-of.ts';
import { describeError, log } from '../log.ts';
import type { Ticket } from './file.ts';
import { incomingKey } from './object-key.ts';
import type { SweepingStores } from './work-store.ts';

/**
 * What a sweep finished: a `ticket` that ended without a file; a `cancelled` or refused ticket; or the `leftovers` of a ticket that became
 * a file.
 */
type SweptKind = 'ticket' | 'cancelled' | 'leftovers';

interface SweptTickets extends Readonly<Record<SweptKind, number>> {
  /** Tickets that could not be finished, and shards that could not be read entirely; the next sweep tries them again. */
  readonly failed: number;
  /** When the first of the tickets ended, in epoch milliseconds; `now` if there was none. */
  readonly oldestDueAt: number;
}

/** How many tickets to finish at the same time, and of how many shards. */
const CONCURRENCY = 64;
const SHARDS_AT_ONCE = 16;
const MINUTE_MS = 60_000;

/**
 * Finishes the tickets that have ended. If a ticket is still pending, its reservation is given back first. Then the object that arrived and
 * the copies of attempts that made no file are removed, and last the row.
 *
 * The process may die at any step, and two sweeps may run at the same time: the row is removed last, and each step may be repeated. When a
 * ticket cannot be finished, the next sweep tries again.
 * @param options.rows  how many rows of a shard to read at a time.
 */
export async function sweepTickets(
  stores: SweepingStores,
  { now, deadlineAt, rows, shards }: { now: number; deadlineAt: number; rows: number; shards: readonly number[] },
): Promise<SweptTickets> {
  const swept = { ticket: 0, cancelled: 0, leftovers: 0 };
  let [failed, oldestDueAt] = [0, now];
  const sweepOrFail = async (ticket: Ticket) => {
    oldestDueAt = Math.min(oldestDueAt, ticket.endsAt);
    if (Date.now() >= deadlineAt) return;
    try {
      const kind = await sweepTicket(stores, ticket, deadlineAt);
      if (kind) swept[kind]++;
    } catch (error) {
      failed++;
      log('error', 'ticket not swept; it is tried again', { fileId: ticket.id, ...describeError(error) });
    }
  };
  const perShard = Math.ceil(CONCURRENCY / Math.min(SHARDS_AT_ONCE, shards.length));
  const sweepShard = async (shard: number) => {
    try {
      for await (const tickets of stores.tickets.endedAt(shard, now, rows)) {
        await eachOf(tickets, perShard, sweepOrFail);
        if (Date.now() >= deadlineAt) return;
      }
    } catch (error) {
      failed++;
      log('error', 'tickets not read; the next sweep reads them', { shard, ...describeError(error) });
    }
  };
  // Every sweep begins with other shards, so that none waits for ever when there is more work than time.
  const first = (Math.floor(now / MINUTE_MS) * SHARDS_AT_ONCE) % shards.length;
  await eachOf([...shards.slice(first), ...shards.slice(0, first)], SHARDS_AT_ONCE, sweepShard);
  return { ...swept, failed, oldestDueAt };
}

/**
 * Finishes one ticket: first the books, then the objects, then the row. After the change of the books, a ticket that was pending cannot
 * become a file any more. When we die in between, the next sweep continues.
 * @returns what was done; undefined when the ticket has changed since it was read, or another sweeper has finished it.
 */
async function sweepTicket(stores: SweepingStores, ticket: Ticket, deadlineAt: number): Promise<SweptKind | undefined> {
  if (ticket.state !== 'pending') {
    const kind = ticket.state === 'settled' ? 'leftovers' : ticket.state === 'ended' ? 'ticket' : 'cancelled';
    return (await removeTicket(stores, ticket)) ? kind : undefined;
  }
  if ((await stores.releases.releaseTicket(ticket, 'ended', { deadlineAt })) === 'changed') return undefined;
  // An attempt may have begun since the ticket was read. So the ticket is read again: now it names the key of that attempt's copy.
  const { accountId, id, sizeBytes, attemptKeys } = (await stores.tickets.get(ticket)) ?? ticket;
  const attempts = attemptKeys.length;
  // S3 does not report a PUT that failed or never came, so this line is all that an operator finds about it.
  log('info', 'ticket ended without a file', {
    account_id: accountId,
    resource_id: id,
    expected_bytes: sizeBytes,
    attempts,
    detail:
      attempts > 0 ? 'every attempt to make a file of it failed' : 'no attempt began; usually no PUT has succeeded',
  });
  return (await removeTicket(stores, { ...ticket, attemptKeys })) ? 'ticket' : undefined;
}

/** @returns false when another sweeper has removed the row. */
async function removeTicket({ objects, inventory, tickets }: SweepingStores, ticket: Ticket): Promise<boolean> {
  const { attemptKeys } = ticket;
  // Uploads in parts are aborted before the objects are removed. Otherwise a process that still stores parts could complete an object
  // afterwards.
  const uploads = await Promise.all(attemptKeys.map((key) => inventory.unfinishedUploads(key)));
  await Promise.all(uploads.flat().map((upload) => inventory.abort(upload)));
  await Promise.all([...attemptKeys, incomingKey(ticket)].map((key) => objects.remove(key)));
  return tickets.remove(ticket);
}
