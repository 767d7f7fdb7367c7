import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PutCommand, type PutCommandInput, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { required } from '../env.ts';
import { RATE_WINDOW_MS } from '../limits.ts';
import type { RatePolicy } from '../rate-limit/policy.ts';
import type { RateLimitStore } from '../rate-limit/rate-limiter.ts';
import type { Step, Window } from '../rate-limit/window.ts';
import { dynamoDbOnce, foundItem, type Item, readOptionalNumber } from './dynamodb.ts';

type Slotted = Extract<Step, { kind: 'open' | 'use' }>;

/** A row may go once all its stamps are old; a generous while later, as TTL goes by a clock of its own. */
const KEPT_MS = 10 * RATE_WINDOW_MS;

const tableName = required('RATE_LIMITS_TABLE');

/**
 * {@link RateLimitStore} in DynamoDB: one conditional write a step, never retried by the SDK.
 *
 * A row holds `l`, the stamps of the slots, oldest first; with shared slots also `u`, their sizes in the same order,
 * and `c`, the uses left in the newest. The names are short because a row of 120 stamps must fit in 1 KB, one write
 * unit.
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
          TableName: tableName,
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

/** Of two first requests at once one creates the row; the other finds it and goes on from there. */
function creation(key: string, { stamps, sizes, left }: Window): PutCommandInput {
  const Item: Item = { id: key, l: stamps, ...(sizes && { u: sizes, c: left }), expires_at: expiry() };
  return {
    TableName: tableName,
    Item,
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/** The oldest slot leaves the front and comes back at the end, where DynamoDB appends an index past it. */
function open({ limit, slots }: RatePolicy, { stamp, expired }: Slotted): Update {
  const values = { ':stamp': stamp, ':expired': expired, ':expiry': expiry() };
  if (slots === limit) {
    return {
      ConditionExpression: 'l[0] <= :expired',
      UpdateExpression: `SET l[${slots}] = :stamp, expires_at = :expiry REMOVE l[0]`,
      ExpressionAttributeValues: values,
    };
  }
  return {
    // What is left in a newest slot that is still in use must be used first, or it would be lost.
    ConditionExpression: `l[0] <= :expired AND (c = :zero OR l[${slots - 1}] <= :expired)`,
    UpdateExpression: `SET l[${slots}] = :stamp, u[${slots}] = u[0], c = u[0] - :one, expires_at = :expiry REMOVE l[0], u[0]`,
    ExpressionAttributeValues: { ...values, ':zero': 0, ':one': 1 },
  };
}

/** The newest slot, if it is still in use, has uses left, and its stamp would not go back. */
function use({ slots }: RatePolicy, { stamp, expired }: Slotted): Update {
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
