import { setTimeout as sleep } from 'node:timers/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { serviceUnavailable } from '../errors.ts';
import { type Deadline, inTime } from '../time-limit.ts';
import { dynamoDb, epochSeconds, readNumber, tableName } from './dynamodb.ts';
import { jitter, writeItem } from './transactions.ts';

/**
 * Turns of an account, for uploads that have met others of the same account, or surely would: each waits for a moment of its own,
 * instead of trying by chance (decisions 0024 and 0034). The rate limits table has a row `turns#<account>#<span>` for each span of time in
 * which any are taken, with the time of the first turn and the length of all.
 *
 * A turn gives no right: an upload that comes at another time, or out of turn, is only more likely to meet others again. So a
 * turn that is not used, a clock that is wrong and a write that is applied twice or late do no harm.
 */

/** What the last upload of an account in this process met. */
interface Meeting {
  /** Until when the account counts as busy, in epoch milliseconds. */
  readonly until: number;
  /** How long the transaction took. */
  readonly ms: number;
}
const meetings = new Map<string, Meeting>();
const BUSY_MS = 2_000;
const BUSY_ACCOUNTS_MAX = 1_000;

/** Notes that an upload has met others of its account, or had to wait for its turn. @param ms  how long its transaction took. */
export function noteMeeting(accountId: string, ms: number): void {
  if (meetings.size >= BUSY_ACCOUNTS_MAX) meetings.clear();
  meetings.set(accountId, { until: Date.now() + BUSY_MS, ms });
}

/**
 * How long a transaction of the account takes while it is busy. Then an upload should take a turn before its first attempt, which
 * would nearly always fail. @returns undefined when the account is not busy.
 */
export function busyMs(accountId: string): number | undefined {
  const meeting = meetings.get(accountId);
  return meeting && meeting.until > Date.now() ? meeting.ms : undefined;
}

/** A turn is long enough to read the account and then make a transaction. On a busy machine that takes longer. */
const SHORTEST_MS = 12;
const LONGEST_MS = 500;
/** The transaction, and the read before it. */
const CALLS_OF_TURN = 2;
/** Longer than the turns of as many uploads as an account usually sends at the same time. */
const SPAN_MS = 2_000;
const KEPT_MS = 60_000;

/**
 * Takes the next turn, and waits for it.
 * @param tried.failures  how often the turns of this upload have failed. They fail when writers that take no turns, such as
 *   deletions, are at work, or the table is too busy. So the upload waits longer each time before it takes another one.
 * @param tried.ms  how long a transaction takes.
 * @returns whether it had to wait, because others have turns before it.
 * @throws ApiError `service_unavailable` when it comes after the deadline.
 */
export async function waitForTurn(
  accountId: string,
  { failures, ms }: { readonly failures: number; readonly ms: number },
  { deadlineAt }: Deadline,
): Promise<boolean> {
  if (failures > 0) await inTime(sleep(jitter(failures)));
  const now = Date.now();
  const ownMs = Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, CALLS_OF_TURN * ms)));
  const command = new UpdateCommand({
    TableName: tableName('rateLimits'),
    Key: { id: `turns#${accountId}#${Math.floor(now / SPAN_MS)}` },
    UpdateExpression: 'SET first_at = if_not_exists(first_at, :now), expires_at = :end ADD taken_ms :own',
    ExpressionAttributeValues: { ':now': now, ':end': epochSeconds(now + KEPT_MS), ':own': ownMs },
    ReturnValues: 'ALL_NEW',
  });
  const { Attributes = {} } = await writeItem(() => dynamoDb.send(command));
  const turnAt = readNumber(Attributes, 'first_at') + readNumber(Attributes, 'taken_ms') - ownMs;
  if (turnAt >= deadlineAt) throw serviceUnavailable({ detail: 'the next turn comes too late' });
  const waitMs = turnAt - Date.now();
  await inTime(sleep(Math.max(0, waitMs)));
  return waitMs > 0;
}
