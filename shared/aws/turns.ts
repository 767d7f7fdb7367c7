import { setTimeout as sleep } from 'node:timers/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { serviceUnavailable } from '../errors.ts';
import { type Deadline, inTime } from '../time-limit.ts';
import { dynamoDb, epochSeconds, readNumber, tableName } from './dynamodb.ts';
import { jitter, writeItem } from './transactions.ts';

/**
 * The turns of an account. An upload takes a turn when its transaction has conflicted with another upload of the account, or probably
 * would. Then the upload waits for a moment that no other upload has, instead of a random time (decisions 0024 and 0034). The rate limits
 * table has a row `turns#<account>#<span>` for each span of time in which turns are taken. The row has the time of the first turn and the
 * length of all turns.
 *
 * Turns do not lock anything: an upload that tries at another moment is only more likely to conflict again. So an unused turn, a wrong
 * clock, and a write that is applied twice or late do no harm.
 */

/** The last conflict between uploads of an account that this process has seen. */
interface Conflict {
  /** Until when the account counts as busy, in epoch milliseconds. */
  readonly until: number;
  /** How long the transaction took, in milliseconds. */
  readonly ms: number;
}
const conflicts = new Map<string, Conflict>();
const BUSY_MS = 2_000;
const BUSY_ACCOUNTS_MAX = 1_000;

/**
 * Remembers that an upload has conflicted with another one of its account, or had to wait for its turn.
 * @param ms  how long the transaction of this upload took, in milliseconds.
 */
export function noteConflict(accountId: string, ms: number): void {
  if (conflicts.size >= BUSY_ACCOUNTS_MAX) conflicts.clear();
  conflicts.set(accountId, { until: Date.now() + BUSY_MS, ms });
}

/**
 * How long a transaction of a busy account takes. Uploads of a busy account should take a turn before their first attempt. Without a turn
 * this attempt would nearly always fail.
 * @returns milliseconds; undefined when the account is not busy.
 */
export function busyMs(accountId: string): number | undefined {
  const conflict = conflicts.get(accountId);
  return conflict && conflict.until > Date.now() ? conflict.ms : undefined;
}

/**
 * The bounds of the length of a turn. During its turn, an upload reads the account and then makes its transaction. Both calls take longer
 * on a busy machine.
 */
const SHORTEST_MS = 12;
const LONGEST_MS = 500;
/** The calls of a turn: the read of the account, and the transaction. */
const CALLS_OF_TURN = 2;
/** All uploads that an account usually sends at the same time have their turns within one span. */
const SPAN_MS = 2_000;
const KEPT_MS = 60_000;

/**
 * Takes the next turn, and waits for it.
 * @param tried.failures  how often the turns of this upload have failed. A turn fails when writers that take no turns, such as deletions,
 *   are at work, or the table is too busy. So the upload waits longer each time before it takes another turn.
 * @param tried.ms  how long a transaction takes, in milliseconds.
 * @returns whether the upload had to wait, because other uploads have earlier turns.
 * @throws ApiError `service_unavailable` when the turn comes after the deadline.
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
