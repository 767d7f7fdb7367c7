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
 * Writes all items or none. When DynamoDB cancels the transaction because another writer was at work on one of the items, it waits for a
 * random time, which doubles with each attempt, and tries again. The SDK does not do this. Without these retries, half of 60 simultaneous
 * writers of one item would fail.
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
export async function transact(items: TransactWriteItem[], deadline: Deadline): Promise<void> {
  const command = newCommand(items);
  await repeat(() => dynamoDb.send(command), isPassing, deadline);
}

/**
 * Writes one item, and tries again while DynamoDB refuses the write because a transaction is at work on the item. The write must be one
 * that may be repeated.
 * @throws ApiError `service_unavailable` when the conflict lasted for {@link WRITE_PATIENCE_MS}, or no answer came in time.
 */
export function writeItem<Result>(attempt: () => Promise<Result>): Promise<Result> {
  return repeat(attempt, isPassing, { deadlineAt: Date.now() + WRITE_PATIENCE_MS });
}

function newCommand(items: TransactWriteItem[]): TransactWriteCommand {
  return new TransactWriteCommand({ TransactItems: items, ClientRequestToken: randomUUID() });
}

/** @param attempt  gets the number of attempts that have failed. @param mayPass  whether another attempt may succeed after this error. */
async function repeat<Result>(
  attempt: (failures: number) => Promise<Result>,
  mayPass: (error: unknown) => boolean,
  { deadlineAt }: Deadline,
): Promise<Result> {
  checkDeadline({ deadlineAt });
  for (let failures = 0; ; failures++) {
    try {
      return await limited(deadlineAt + DATABASE_CALL_MS, () => attempt(failures), lostAnswer);
    } catch (error) {
      if (!mayPass(error)) throw error;
      const delayMs = jitter(failures);
      if (Date.now() + delayMs >= deadlineAt) throw serviceUnavailable({ cause: error });
      await inTime(sleep(delayMs));
    }
  }
}

const lostAnswer = () => serviceUnavailable({ detail: 'the last attempt was not answered in time' });

/** A random wait, up to a bound that doubles with each attempt. So writers that conflicted once are unlikely to conflict again. */
function jitter(failures: number): number {
  return Math.random() * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
}

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
 * Writes all items or none, as {@link transact} does. All attempts write the same items.
 * @returns undefined when they were written; else the items whose condition failed.
 * @throws as {@link transactByAccount}.
 */
export function transactOnBooks(items: NamedItems, deadline: Deadline): Promise<FailedItems | undefined> {
  return transactByAccount({ items, outcomeOf: (failed) => failed }, deadline);
}

/** A transaction on the books whose items depend on the account as it was read. */
interface ByAccount<Outcome> {
  readonly items: NamedItems;
  /** What the failed conditions mean; undefined when they may hold for items that are built again. */
  outcomeOf(failed: FailedItems): Outcome | undefined;
  /**
   * Reads the account again, and gives the items for its new state. Each attempt with new items has a request token of its own. So the items
   * need conditions by which only one of the attempts can succeed, even if one of them arrives late.
   */
  rebuild?(): Promise<NamedItems>;
}

/**
 * Writes all items or none. When another writer was at work on one of the items, or a condition failed because the account has changed, it
 * waits as {@link transact} does, builds the items again, and tries again.
 * @returns undefined when the items were written; else the outcome. Then they were not written, and will not be.
 * @throws ApiError `unauthorized` when the account has been suspended or deleted; `service_unavailable` also when the account has refused
 *   the last request, but an earlier one may still arrive; and what {@link transact} throws.
 */
export async function transactByAccount<Outcome>(
  { items, outcomeOf, rebuild }: ByAccount<Outcome>,
  deadline: Deadline,
): Promise<Outcome | undefined> {
  let latest = items;
  let command = newCommand(Object.values(latest));
  let failed: FailedItems = new Map();
  let outcome: Outcome | undefined;
  let mayArriveLate = false;
  const attempt = async (failures: number) => {
    if (rebuild && failures > 0) {
      latest = await rebuild();
      command = newCommand(Object.values(latest));
    }
    return dynamoDb.send(command);
  };
  const mayPass = (error: unknown) => {
    mayArriveLate ||= wasSentAgain(error);
    failed = failedItems(latest, error);
    if (failed.size === 0) return isPassing(error);
    if (isClosed(failed)) return false;
    outcome = outcomeOf(failed);
    return outcome === undefined;
  };
  try {
    await repeat(attempt, mayPass, deadline);
    return undefined;
  } catch (error) {
    // A row, ticket or record that refuses one request refuses every other as well. But an account may get room again.
    const isFinal = [...failed.keys()].some((name) => name !== 'account');
    if (mayArriveLate && !isFinal) {
      throw serviceUnavailable({ detail: 'an earlier request may still be applied', cause: error });
    }
    if (isClosed(failed)) {
      throw new ApiError('unauthorized', { detail: 'the account is suspended or gone', cause: error });
    }
    if (outcome === undefined) throw error;
    return outcome;
  }
}

/** True when the SDK has sent a request more than once. Then an earlier one, whose answer was lost, may still be on its way. */
function wasSentAgain(error: unknown): boolean {
  const isAnswer = error instanceof TransactionCanceledException || error instanceof TransactionConflictException;
  return isAnswer && error.$metadata.attempts !== 1;
}

/** True when the account is suspended or gone. The row of a file that exists says more: then the transaction has happened. */
function isClosed(failed: FailedItems): boolean {
  const account = failed.get('account');
  return account !== undefined && !failed.has('row') && (account.id === undefined || account.suspended !== undefined);
}

function failedItems(items: NamedItems, error: unknown): FailedItems {
  const names = Object.keys(items) as ItemName[];
  const failed = new Map<ItemName, Item>();
  failedConditions(error).forEach((found, index) => {
    if (found) failed.set(names[index] as ItemName, found);
  });
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
