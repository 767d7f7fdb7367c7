import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CancellationReason,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteItem } from '@aws-sdk/lib-dynamodb';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { checkDeadline, DATABASE_CALL_MS, type Deadline, inTime, limited, WRITE_PATIENCE_MS } from '../time-limit.ts';
import { dynamoDb, foundItem, type Item } from './dynamodb.ts';

const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 500;

/** The reasons of a cancellation after which we try again: another writer of the item, or a partition that is too busy. */
const PASSING = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * Writes all items or none. It tries again when DynamoDB cancels the transaction because another writer was at work on one of the items.
 * The SDK does not do this. Without these retries, half of 60 simultaneous writers of one item would fail.
 *
 * All attempts carry one request token. So when the answer to an attempt was lost, the next attempt does not apply the writes a second
 * time. When the answer to the last attempt is lost, the caller gets `service_unavailable` although the items may be written. So the items
 * must do no harm in this case, or the sweeper must find them.
 * @param deadlineAt  epoch milliseconds after which no attempt starts. The last attempt, with the SDK's own retries, ends at most
 *   {@link DATABASE_CALL_MS} after that.
 * @throws TransactionCanceledException when a condition failed: the caller knows what that means.
 * @throws ApiError `timeout` when the deadline has passed before the first attempt; `service_unavailable` when the conflict lasted until
 *   the deadline, or the answer was lost.
 */
export async function transact(items: TransactWriteItem[], { deadlineAt }: Deadline): Promise<void> {
  const command = { TransactItems: items, ClientRequestToken: randomUUID() };
  await retryConflicts(() => dynamoDb.send(new TransactWriteCommand(command)), { deadlineAt });
}

/**
 * Writes one item, and tries again while DynamoDB refuses the write because a transaction is at work on the item. The write must be one
 * that may be repeated.
 * @throws ApiError `service_unavailable` when the conflict lasted for {@link WRITE_PATIENCE_MS}, or no answer came in time.
 */
export function writeItem<Result>(attempt: () => Promise<Result>): Promise<Result> {
  return retryConflicts(attempt, { deadlineAt: Date.now() + WRITE_PATIENCE_MS });
}

async function retryConflicts<Result>(attempt: () => Promise<Result>, { deadlineAt }: Deadline): Promise<Result> {
  checkDeadline({ deadlineAt });
  for (let failures = 0; ; failures++) {
    try {
      return await limited(deadlineAt + DATABASE_CALL_MS, attempt, lostAnswer);
    } catch (error) {
      if (!isPassing(error)) throw error;
      const delayMs = jitter(failures);
      if (Date.now() + delayMs >= deadlineAt) throw serviceUnavailable({ cause: error });
      await inTime(sleep(delayMs));
    }
  }
}

const lostAnswer = () => serviceUnavailable({ detail: 'the last attempt was not answered in time' });

/**
 * What a cancelled transaction reports about each of its items, in their order.
 * @returns one entry for each item. If the condition of the item failed, the entry is the item as it was found. It is empty when there is
 *   no such item, or when the write did not ask for the item (`ReturnValuesOnConditionCheckFailure`). Otherwise the entry is undefined. The
 *   list is empty when the error is not a cancellation.
 */
export function failedConditions(error: unknown): (Item | undefined)[] {
  return cancellationReasons(error).map((reason) =>
    reason.Code === 'ConditionalCheckFailed' ? (foundItem(reason) ?? {}) : undefined,
  );
}

/**
 * What a transaction on the books may write: the row of the file, its ticket, the account, the listing leaf, the record of an
 * `Idempotency-Key`.
 */
type ItemName = 'row' | 'ticket' | 'account' | 'leaf' | 'record';
/** The items whose condition failed, as they were found. An item that does not exist is empty here. */
export type FailedItems = ReadonlyMap<ItemName, Item>;
export type NamedItems = Partial<Record<ItemName, TransactWriteItem>>;

/**
 * Writes all items or none, as {@link transact} does.
 * @returns undefined when they were written; else the items whose condition failed.
 * @throws ApiError `unauthorized` when the account has been suspended or deleted; and what {@link transact} throws.
 */
export async function transactOnBooks(items: NamedItems, deadline: Deadline): Promise<FailedItems | undefined> {
  try {
    await transact(Object.values(items), deadline);
    return undefined;
  } catch (error) {
    const failed = failedItems(items, error);
    if (failed.size === 0) throw error;
    return failed;
  }
}

/** Why nothing was written by {@link tryOnBooks}. */
export interface NotWritten {
  /** The items whose condition failed; none when another writer was at work on one of the items. */
  readonly failed: FailedItems;
  /** True when the SDK has sent the transaction more than once: then an earlier request may still be on its way. */
  readonly mayArriveLate: boolean;
}

/**
 * Writes all items or none, and does not try again when another writer is at work on one of them.
 * @returns undefined when they were written.
 * @throws as {@link transactOnBooks}.
 */
export async function tryOnBooks(items: NamedItems, { deadlineAt }: Deadline): Promise<NotWritten | undefined> {
  checkDeadline({ deadlineAt });
  const command = new TransactWriteCommand({ TransactItems: Object.values(items), ClientRequestToken: randomUUID() });
  try {
    await limited(deadlineAt + DATABASE_CALL_MS, () => dynamoDb.send(command), lostAnswer);
    return undefined;
  } catch (error) {
    const failed = failedItems(items, error);
    if (failed.size === 0 && !isPassing(error)) throw error;
    return { failed, mayArriveLate: (error as TransactionCanceledException).$metadata.attempts !== 1 };
  }
}

/** @throws ApiError `unauthorized` when a condition failed because the account has been suspended or deleted. */
function failedItems(items: NamedItems, error: unknown): FailedItems {
  const names = Object.keys(items) as ItemName[];
  const failed = new Map<ItemName, Item>();
  failedConditions(error).forEach((found, index) => {
    if (found) failed.set(names[index] as ItemName, found);
  });
  const account = failed.get('account');
  if (account && (!account.id || account.suspended)) {
    throw new ApiError('unauthorized', { detail: 'the account is suspended or gone', cause: error });
  }
  return failed;
}

function cancellationReasons(error: unknown): CancellationReason[] {
  return error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
}

function isPassing(error: unknown): boolean {
  if (error instanceof TransactionConflictException) return true;
  const codes = cancellationReasons(error).flatMap(({ Code }) => (Code === undefined || Code === 'None' ? [] : Code));
  return codes.length > 0 && codes.every((code) => PASSING.has(code));
}

/** A random wait, up to a bound that doubles with each attempt. So writers that conflicted once are unlikely to conflict again. */
export function jitter(attempt: number): number {
  return Math.random() * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
}
