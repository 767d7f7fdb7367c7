import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, type PutCommandInput, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { RATE_WINDOW_MS } from '../contract/limits.ts';
import type { RatePolicy } from '../rate-limit/policy.ts';
import type { RateLimitStore } from '../rate-limit/rate-limiter.ts';
import type { Step, Window } from '../rate-limit/window.ts';
import { dynamoDbOnce, foundItem, type Item, readOptionalNumber, tableName } from './dynamodb.ts';

type SlotStep = Extract<Step, { kind: 'open' | 'use' }>;

/**
 * How long a row is kept after its last write. Its stamps are needed for only a tenth of this time. But DynamoDB removes rows by its own
 * clock, which may differ from ours.
 */
const KEPT_MS = 10 * RATE_WINDOW_MS;

/**
 * {@link RateLimitStore} in DynamoDB. Each step is one conditional write, which the SDK never retries.
 *
 * A row has `l`, the stamps of the slots (the times of their last use), oldest first. If several requests share a slot, the row also has
 * `u` and `c`. `u` has the number of requests that each slot stands for, in the same order. `c` is the number of requests that are left in
 * the newest slot. The names are short because a row of 120 stamps must fit in 1 KB, one write unit.
 */
export const rateLimitStore: RateLimitStore = {
  async attempt(key, policy, step) {
    try {
      if (step.kind === 'create') {
        await dynamoDbOnce.send(new PutCommand(creation(key, step.window)));
        return { done: true, window: step.window };
      }
      const update = step.kind === 'use' ? use(policy, step) : open(policy, step);
      const { Attributes } = await dynamoDbOnce.send(
        new UpdateCommand({
          TableName: tableName('rateLimits'),
          Key: { id: key },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...update,
        }),
      );
      return { done: true, window: toWindow(Attributes) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { done: false, window: toWindow(foundItem(error)) };
    }
  },
};

type Update = Pick<UpdateCommandInput, 'ConditionExpression' | 'UpdateExpression' | 'ExpressionAttributeValues'>;

/** When the first two requests come at the same time, one of them creates the row. The other finds this row and updates it. */
function creation(key: string, { stamps, sizes, left }: Window): PutCommandInput {
  const Item: Item = { id: key, l: stamps, ...(sizes && { u: sizes, c: left }), expires_at: expiry() };
  return {
    TableName: tableName('rateLimits'),
    Item,
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** Moves the oldest slot from the front to the end, with a new stamp. (DynamoDB appends a value that is set at an index past the end.) */
function open({ limit, slots }: RatePolicy, { stamp, expired }: SlotStep): Update {
  const values = { ':stamp': stamp, ':expired': expired, ':expiry': expiry() };
  if (slots === limit) {
    return {
      ConditionExpression: 'l[0] <= :expired',
      UpdateExpression: `SET l[${slots}] = :stamp, expires_at = :expiry REMOVE l[0]`,
      ExpressionAttributeValues: values,
    };
  }
  return {
    // While the newest slot is in use, its remaining uses must be taken first. Otherwise they would be lost.
    ConditionExpression: `l[0] <= :expired AND (c = :zero OR l[${slots - 1}] <= :expired)`,
    UpdateExpression: `SET l[${slots}] = :stamp, u[${slots}] = u[0], c = u[0] - :one, expires_at = :expiry REMOVE l[0], u[0]`,
    ExpressionAttributeValues: { ...values, ':zero': 0, ':one': 1 },
  };
}

/** Takes one use of the newest slot, if that slot is in use, has uses left, and its stamp is not later than the new one. */
function use({ slots }: RatePolicy, { stamp, expired }: SlotStep): Update {
  const newest = `l[${slots - 1}]`;
  return {
    ConditionExpression: `c > :zero AND ${newest} > :expired AND ${newest} <= :stamp`,
    UpdateExpression: `SET ${newest} = :stamp, c = c - :one, expires_at = :expiry`,
    ExpressionAttributeValues: {
      ':stamp': stamp,
      ':expired': expired,
      ':expiry': expiry(),
      ':zero': 0,
      ':one': 1,
    },
  };
}

function toWindow(row: Item | undefined): Window | undefined {
  if (!row) return undefined;
  const left = readOptionalNumber(row, 'c') ?? 0;
  const stamps = row.l as readonly number[];
  return row.u ? { stamps, sizes: row.u as readonly number[], left } : { stamps, left };
}

const expiry = () => Math.ceil((Date.now() + KEPT_MS) / 1_000);
