import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import { STREAMING_LEASE_MS, STREAMS_PER_ACCOUNT_MAX } from '../limits.ts';
import { describeError, log } from '../log.ts';
import { dynamoDb, foundItem, readNumbers } from './dynamodb.ts';

/**
 * How many uploads an account streams at once, over all servers: one row an account in the rate limits table,
 * `streams#<account>`, whose map `slots` holds a lease (epoch milliseconds of its end) for each open stream.
 *
 * A server that dies leaves its leases behind, as does a claim that arrives after its slot was released; they end by
 * themselves and the next taker removes them.
 */

const table = required('RATE_LIMITS_TABLE');
/** An idle row outlives its last lease by this long, then TTL removes it. */
const IDLE_SECONDS = 3_600;

export interface StreamSlot {
  /** Says that the stream is still alive; to be called more often than a lease lasts. */
  renew(): Promise<void>;
  /** Makes room for another. Harmless twice, and when it fails the lease ends by itself. */
  release(): Promise<void>;
}

/**
 * Takes a slot, in one write when there is room.
 * @returns undefined when the account has as many streams as it may.
 * @throws ApiError `service_unavailable`; no slot is kept then. If giving it back fails too, its lease ends by itself.
 */
export async function takeStreamSlot(accountId: string, now: () => number = Date.now): Promise<StreamSlot | undefined> {
  const id = randomUUID();
  try {
    return await claimInTurns(accountId, id, now);
  } catch (error) {
    // DynamoDB may have made the claim all the same.
    await slot(accountId, id, now)
      .release()
      .catch((failure) => log('warn', 'stream slot not given back; its lease ends', describeError(failure)));
    throw error;
  }
}

async function claimInTurns(accountId: string, id: string, now: () => number): Promise<StreamSlot | undefined> {
  // Each turn that finds the row full removes leases that have ended; another taker may be quicker, so a few turns.
  for (let turn = 0; turn < 4; turn++) {
    const found = await claim(accountId, id, now());
    if (found === 'taken') return slot(accountId, id, now);
    if (found === 'absent') await create(accountId, now());
    else if (!(await removeEnded(accountId, found, now()))) return undefined;
  }
  return undefined;
}

/** The end of each lease in epoch milliseconds, by the id of its slot. */
type Slots = Readonly<Record<string, number>>;

async function claim(accountId: string, id: string, now: number): Promise<'taken' | 'absent' | Slots> {
  try {
    await update(accountId, {
      UpdateExpression: 'SET slots.#id = :end, expires_at = :ttl',
      // The SDK tries again when an answer is lost: then the slot is there already, and it is ours.
      ConditionExpression: 'size(slots) < :max OR attribute_exists(slots.#id)',
      ExpressionAttributeNames: { '#id': id },
      ExpressionAttributeValues: {
        ...lease(now),
        ':max': STREAMS_PER_ACCOUNT_MAX,
      },
    });
    return 'taken';
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const row = foundItem(error);
    return (row && readNumbers(row, 'slots')) ?? 'absent';
  }
}

/** Two takers may create the row at once: the second leaves the first one's map alone. */
async function create(accountId: string, now: number): Promise<void> {
  await update(accountId, {
    UpdateExpression: 'SET slots = if_not_exists(slots, :none), expires_at = :ttl',
    ExpressionAttributeValues: { ':none': {}, ':ttl': lease(now)[':ttl'] },
  });
}

/** @returns false when no lease has ended, so there is no room. */
async function removeEnded(accountId: string, slots: Slots, now: number): Promise<boolean> {
  const ended = Object.entries(slots).filter(([, end]) => end <= now);
  if (ended.length === 0) return false;
  const each = (render: (index: number) => string, glue: string) => ended.map((_, index) => render(index)).join(glue);
  try {
    await update(accountId, {
      UpdateExpression: `REMOVE ${each((index) => `slots.#s${index}`, ', ')}`,
      // A lease that was renewed meanwhile is alive after all.
      ConditionExpression: each((index) => `slots.#s${index} = :e${index}`, ' AND '),
      ExpressionAttributeNames: Object.fromEntries(ended.map(([id], index) => [`#s${index}`, id])),
      ExpressionAttributeValues: Object.fromEntries(ended.map(([, end], index) => [`:e${index}`, end])),
    });
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
  return true;
}

function slot(accountId: string, id: string, now: () => number): StreamSlot {
  const ExpressionAttributeNames = { '#id': id };
  return {
    async renew() {
      try {
        await update(accountId, {
          UpdateExpression: 'SET slots.#id = :end, expires_at = :ttl',
          // One that arrives late takes back neither the release nor a later renewal.
          ConditionExpression: 'slots.#id < :end',
          ExpressionAttributeNames,
          ExpressionAttributeValues: lease(now()),
        });
      } catch (error) {
        // Released meanwhile, or its lease had ended and another taker removed it: the stream goes on uncounted.
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    },
    async release() {
      await update(accountId, { UpdateExpression: 'REMOVE slots.#id', ExpressionAttributeNames });
    },
  };
}

function lease(now: number): { ':end': number; ':ttl': number } {
  return {
    ':end': now + STREAMING_LEASE_MS,
    ':ttl': Math.floor(now / 1_000) + IDLE_SECONDS,
  };
}

function update(accountId: string, expression: Omit<UpdateCommandInput, 'TableName' | 'Key'>) {
  return dynamoDb.send(
    new UpdateCommand({
      TableName: table,
      Key: { id: `streams#${accountId}` },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ...expression,
    }),
  );
}
