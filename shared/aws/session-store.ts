import { DeleteCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { SESSION_MAX_MS, SESSIONS_PER_ACCOUNT_MAX } from '../contract/limits.ts';
import { eachOf } from '../each-of.ts';
import { serviceUnavailable } from '../errors.ts';
import { UNKNOWN_DEVICE } from '../sessions/device.ts';
import type { Session, SessionCredentials, SessionStore } from '../sessions/session.ts';
import { ACCOUNT_IS_OPEN, accountAt } from './account-store.ts';
import {
  dynamoDb,
  epochSeconds,
  failedCondition,
  type Item,
  readNumber,
  readOptionalText,
  readSet,
  readText,
  tableName,
} from './dynamodb.ts';
import { readRows } from './read-rows.ts';
import { failedConditions, transact, writeItem } from './transactions.ts';

/** How long a login waits for uploads to the same account, and for other logins to it. */
const PATIENCE_MS = 5_000;
/** Until so long after its end a session may return: a refresh may arrive late, and clocks may be apart. Until then it stays in the list. */
const RETURNS_MS = 3_600_000;
/** How many calls run at the same time when many sessions are ended. */
const CONCURRENCY = 16;

const find: SessionCredentials['find'] = async (tokenHash) => {
  const row = await read(tokenHash);
  return row && toSession(row);
};

function toSession(row: Item): Session {
  return {
    tokenHash: readText(row, 'token_hash'),
    accountId: readText(row, 'account_id'),
    // Rows that an earlier version wrote have no device.
    device: readOptionalText(row, 'device') ?? UNKNOWN_DEVICE,
    createdAt: readTime(row, 'created_at'),
    refreshedAt: readTime(row, 'refreshed_at'),
    expiresAt: readTime(row, 'expires_at'),
  };
}

const refresh: SessionCredentials['refresh'] = async ({ tokenHash, refreshedAt, expiresAt }) => {
  const command = new UpdateCommand({
    ...sessionAt(tokenHash),
    UpdateExpression: 'SET refreshed_at = :refreshed, expires_at = :expires',
    // The condition fails after a logout, or when a later request has refreshed the session. Then there is nothing to write.
    ConditionExpression: 'attribute_exists(token_hash) AND refreshed_at < :refreshed',
    ExpressionAttributeValues: { ':refreshed': epochSeconds(refreshedAt), ':expires': epochSeconds(expiresAt) },
  });
  await failedCondition(writeItem(() => dynamoDb.send(command)));
};

/** {@link SessionCredentials} in DynamoDB. Most functions contain only this part of the store. */
export const sessionCredentials: SessionCredentials = { find, refresh };

/**
 * {@link SessionStore} in DynamoDB. Each session has a row, under the hash of its token. Each account has a row that lists its sessions
 * ({@link SessionList}). A global index cannot replace this list, because an index is a moment behind its table.
 */
export const sessionStore: SessionStore = {
  find,
  refresh,

  async add(session) {
    const deadlineAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const outcome = await tryToAdd(session, await listOf(session.accountId), deadlineAt);
      if (outcome !== 'list changed') return outcome;
      if (Date.now() >= deadlineAt) throw serviceUnavailable({ detail: 'too many simultaneous logins to one account' });
    }
  },

  remove: removeRow,

  async removeAll(accountId, { last } = { last: undefined }) {
    const list = await listOf(accountId);
    const others = (list?.hashes ?? []).filter((hash) => hash !== last);
    const removed = await eachOf(others, CONCURRENCY, removeRow);
    if (last !== undefined) removed.push(await removeRow(last));
    if (list) await removeList(accountId, list);
    return removed.filter(Boolean).length;
  },

  live: async (accountId, now) => liveIn(await listOf(accountId), now),
};

/** The sessions of a list that have not ended. */
async function liveIn(list: SessionList | undefined, now: number): Promise<Session[]> {
  const keys = (list?.hashes ?? []).map((hash) => sessionAt(hash).Key);
  return (await readRows('sessions', keys)).map(toSession).filter(({ expiresAt }) => expiresAt > now);
}

function sessionAt(tokenHash: string) {
  return { TableName: tableName('sessions'), Key: { token_hash: tokenHash } };
}

async function read(tokenHash: string): Promise<Item | undefined> {
  const { Item } = await dynamoDb.send(new GetCommand({ ...sessionAt(tokenHash), ConsistentRead: true }));
  return Item;
}

/** Times are kept in whole seconds, the unit of DynamoDB's TTL. @returns epoch milliseconds. */
const readTime = (item: Item, name: string) => readNumber(item, name) * 1_000;

/**
 * Writes the session, and adds it to the list of the account's sessions, in one transaction. So a later call that ends all sessions finds
 * this one in the list. If the account is suspended or gone, nothing is written.
 */
async function tryToAdd(session: Session, known: SessionList | undefined, deadlineAt: number) {
  const { TableName, Key } = sessionAt(session.tokenHash);
  const row: Item = {
    ...Key,
    account_id: session.accountId,
    device: session.device,
    created_at: epochSeconds(session.createdAt),
    refreshed_at: epochSeconds(session.refreshedAt),
    expires_at: epochSeconds(session.expiresAt),
  };
  const live = await liveIn(known, session.createdAt - RETURNS_MS);
  const newestFirst = [session, ...live.toSorted((one, other) => other.createdAt - one.createdAt)];
  const hashes = newestFirst.map(({ tokenHash }) => tokenHash);
  const list: Item = {
    token_hash: listKey(session.accountId),
    hashes: new Set(hashes.slice(0, SESSIONS_PER_ACCOUNT_MAX)),
    newest: session.tokenHash,
    // At this time every session in the list has ended.
    expires_at: epochSeconds(session.createdAt + SESSION_MAX_MS),
  };
  const surplus = hashes.slice(SESSIONS_PER_ACCOUNT_MAX);
  const items = [
    { Put: { TableName, Item: row } },
    { ConditionCheck: { ...accountAt(session.accountId), ConditionExpression: ACCOUNT_IS_OPEN } },
    { Put: { TableName, Item: list, ...ifUnchanged(known) } },
    ...surplus.map((hash) => ({ Delete: sessionAt(hash) })),
  ];
  try {
    await transact(items, { deadlineAt });
    return 'added';
  } catch (error) {
    const [, ofAccount, ofList] = failedConditions(error);
    if (ofAccount) return 'refused';
    if (ofList) return 'list changed';
    throw error;
  }
}

/** @returns false when there was no such row. */
async function removeRow(tokenHash: string): Promise<boolean> {
  const command = new DeleteCommand({ ...sessionAt(tokenHash), ReturnValues: 'ALL_OLD' });
  const { Attributes } = await writeItem(() => dynamoDb.send(command));
  return Attributes !== undefined;
}

/**
 * The row that lists the sessions of one account, so that one strong read finds all of them (decision 0016). Every login rewrites it, in
 * the transaction that adds the session, without the sessions that have ended. Until then the list may name sessions that are gone.
 */
interface SessionList {
  /** The hashes of the tokens. */
  readonly hashes: readonly string[];
  /** The session that was added last. Every login adds another session, so this hash identifies one state of the list. */
  readonly newest: string;
}

/** The key of the list. It cannot be the hash of a token, because it is not hexadecimal. */
const listKey = (accountId: string): string => `account#${accountId}`;

async function listOf(accountId: string): Promise<SessionList | undefined> {
  const row = await read(listKey(accountId));
  if (!row) return undefined;
  return { hashes: readSet(row, 'hashes'), newest: readText(row, 'newest') };
}

/** The condition that the list is still as it was read. */
function ifUnchanged(known: SessionList | undefined) {
  return known
    ? { ConditionExpression: 'newest = :seen', ExpressionAttributeValues: { ':seen': known.newest } }
    : { ConditionExpression: 'attribute_not_exists(token_hash)' };
}

/** Removes the list, unless a login has written it since it was read. If we die before this, the list names sessions that are gone. */
async function removeList(accountId: string, list: SessionList): Promise<void> {
  const command = new DeleteCommand({ ...sessionAt(listKey(accountId)), ...ifUnchanged(list) });
  await failedCondition(writeItem(() => dynamoDb.send(command)));
}
