import { randomUUID } from 'node:crypto';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { STREAMING_LEASE_MS, STREAMS_PER_ACCOUNT_MAX } from '../limits.ts';
import { describeError, log } from '../log.ts';
import { dynamoDb, epochSeconds, failedCondition, readNumbers, tableName } from './dynamodb.ts';

/**
 * Counts the simultaneous streaming uploads (streams) of an account, over all servers. The rate limits table has one row for each account,
 * `streams#<account>`. Its map `slots` has a lease for each open stream: the epoch milliseconds at which the lease ends.
 *
 * Two things leave a lease behind: a server that dies, and a write that takes a slot but arrives after the slot was released. Such leases
 * end by themselves, and the next upload that finds no free slot removes them.
 */

/** DynamoDB's TTL removes a row when no lease in the row was taken or renewed for this long. */
const IDLE_MS = 3_600_000;

export interface StreamSlot {
  /** Renews the lease. The stream has to call this more often than a lease lasts. */
  renew(): Promise<void>;
  /** Makes room for another stream. May be repeated. When it fails, the lease ends by itself. */
  release(): Promise<void>;
}

/**
 * Takes a slot. This costs one write if the account has a row with a free slot, and two more if the row has to be created.
 * @returns undefined when the account has as many streams as it may.
 * @throws ApiError `service_unavailable`. Then a slot that may have been taken is given back; if that fails too, its lease ends by itself.
 */
export async function takeStreamSlot(accountId: string, now: () => number = Date.now): Promise<StreamSlot | undefined> {
  const id = randomUUID();
  try {
    return await takeWithRetries(accountId, id, now);
  } catch (error) {
    // DynamoDB may have written the lease although the call failed.
    await slot(accountId, id, now)
      .release()
      .catch((failure) => log('warn', 'stream slot not given back; its lease ends', describeError(failure)));
    throw error;
  }
}

async function takeWithRetries(accountId: string, id: string, now: () => number): Promise<StreamSlot | undefined> {
  // Each try that finds no free slot removes the leases that have ended. Another upload may take the free slot first, so we try a few
  // times.
  for (let tries = 0; tries < 4; tries++) {
    const found = await tryToTake(accountId, id, now());
    if (found === 'taken') return slot(accountId, id, now);
    if (found === 'absent') await create(accountId, now());
    else if (!(await removeEnded(accountId, found, now()))) return undefined;
  }
  return undefined;
}

/** The end of each lease in epoch milliseconds, by the id of its slot. */
type Slots = Readonly<Record<string, number>>;

async function tryToTake(accountId: string, id: string, now: number): Promise<'taken' | 'absent' | Slots> {
  const found = await updateIf(accountId, {
    UpdateExpression: 'SET slots.#id = :end, expires_at = :ttl',
    // When an answer is lost, the SDK repeats the write. The repeated write may find that we already have the slot.
    ConditionExpression: 'size(slots) < :max OR attribute_exists(slots.#id)',
    ExpressionAttributeNames: { '#id': id },
    ExpressionAttributeValues: { ...lease(now), ':max': STREAMS_PER_ACCOUNT_MAX },
  });
  return found === undefined ? 'taken' : (readNumbers(found, 'slots') ?? 'absent');
}

/** Creates the row. If two uploads do this at the same time, the second leaves the map of the first unchanged. */
async function create(accountId: string, now: number): Promise<void> {
  await updateIf(accountId, {
    UpdateExpression: 'SET slots = if_not_exists(slots, :none), expires_at = :ttl',
    ExpressionAttributeValues: { ':none': {}, ':ttl': lease(now)[':ttl'] },
  });
}

/** @returns false when no lease has ended, so there is no room. */
async function removeEnded(accountId: string, slots: Slots, now: number): Promise<boolean> {
  const ended = Object.entries(slots).filter(([, end]) => end <= now);
  if (ended.length === 0) return false;
  const each = (render: (index: number) => string, glue: string) => ended.map((_, index) => render(index)).join(glue);
  await updateIf(accountId, {
    UpdateExpression: `REMOVE ${each((index) => `slots.#s${index}`, ', ')}`,
    // The condition fails when one of the leases was renewed or removed meanwhile. Then the next try reads the leases again.
    ConditionExpression: each((index) => `slots.#s${index} = :e${index}`, ' AND '),
    ExpressionAttributeNames: Object.fromEntries(ended.map(([id], index) => [`#s${index}`, id])),
    ExpressionAttributeValues: Object.fromEntries(ended.map(([, end], index) => [`:e${index}`, end])),
  });
  return true;
}

function slot(accountId: string, id: string, now: () => number): StreamSlot {
  const ExpressionAttributeNames = { '#id': id };
  return {
    async renew() {
      await updateIf(accountId, {
        UpdateExpression: 'SET slots.#id = :end, expires_at = :ttl',
        // A renewal that arrives late must undo neither the release nor a later renewal. The condition also fails if the lease had ended,
        // and another upload has removed it. Then the stream continues, but is not counted.
        ConditionExpression: 'slots.#id < :end',
        ExpressionAttributeNames,
        ExpressionAttributeValues: lease(now()),
      });
    },
    async release() {
      await updateIf(accountId, { UpdateExpression: 'REMOVE slots.#id', ExpressionAttributeNames });
    },
  };
}

function lease(now: number): { ':end': number; ':ttl': number } {
  return {
    ':end': now + STREAMING_LEASE_MS,
    ':ttl': epochSeconds(now + IDLE_MS),
  };
}

/** @returns undefined when the update was made; else the row as the failed condition found it, or an empty item when there is no row. */
function updateIf(accountId: string, expression: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
  const command = new UpdateCommand({
    TableName: tableName('rateLimits'),
    Key: { id: `streams#${accountId}` },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ...expression,
  });
  return failedCondition(dynamoDb.send(command));
}
