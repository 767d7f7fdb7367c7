import type { Context, ScheduledEvent } from 'aws-lambda';
import { accountStore } from '../../shared/aws/account-store.ts';
import { fileStore } from '../../shared/aws/file-store.ts';
import { listingStore } from '../../shared/aws/listing-store.ts';
import { objectInventory, objectStore } from '../../shared/aws/object-store.ts';
import { releaseStore } from '../../shared/aws/release-store.ts';
import { sealStore } from '../../shared/aws/seal-store.ts';
import { ticketStore } from '../../shared/aws/ticket-store.ts';
import { workStore } from '../../shared/aws/work-store.ts';
import type { Sweeper } from '../../shared/contract/limits.ts';
import { shardsOf } from '../../shared/files/shards.ts';
import { type SweepReport, sweep } from '../../shared/files/sweep.ts';
import { log } from '../../shared/log.ts';
import { measure } from '../../shared/metrics.ts';
import { withinInvocation } from '../../shared/time-limit.ts';

const stores = {
  accounts: accountStore,
  files: fileStore,
  objects: objectStore,
  inventory: objectInventory,
  listing: listingStore,
  releases: releaseStore,
  seals: sealStore,
  tickets: ticketStore,
  work: workStore,
};
/** How many rows to look up at a time: for each shard of tickets, and for all other work together. */
const ROWS = 1_000;
/**
 * The sweep begins nothing in this last part of the function's time. A row usually takes less. If a row takes longer, the
 * function ends first, and a later sweep finishes the row.
 */
const MARGIN_MS = 15_000;

/**
 * A schedule runs this every minute. It finishes what uploads and deletions had left unfinished at the time of the scheduled event. When
 * the stage has several sweepers, it runs once for each of them, and the event says for which.
 * @returns a report of what it did.
 */
export async function handler(event: Partial<ScheduledEvent & Sweeper>, context: Context): Promise<SweepReport> {
  const { time, sweeper = 0, sweepers = 1 } = event;
  const now = time === undefined ? Date.now() : Date.parse(time);
  const deadlineAt = Date.now() + context.getRemainingTimeInMillis() - MARGIN_MS;
  const report = await withinInvocation(context, () =>
    sweep(stores, { now, shards: shardsOf({ sweeper, sweepers }), budget: { rows: ROWS, deadlineAt } }),
  );
  log(report.failed > 0 ? 'warn' : 'info', 'swept', { request_id: context.awsRequestId, sweeper, ...report });
  const { swept, failed, orphans, lagSeconds } = report;
  const Swept = Object.values(swept).reduce((sum, rows) => sum + rows, 0);
  // A metric costs money in every hour in which it is written, so counts of 0 are not written.
  measure(
    {},
    {
      SweepLag: lagSeconds,
      ...(Swept > 0 && { Swept }),
      ...(failed > 0 && { SweepFailures: failed }),
      ...(orphans > 0 && { SweepOrphans: orphans }),
    },
  );
  return report;
}
