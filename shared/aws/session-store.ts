import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { eachOf } from '../each-of.ts';
import { required } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import type { Session, SessionStore } from '../sessions/session.ts';
import { ACCOUNT_IS_OPEN } from './account-conditions.ts';
import { dynamoDb, epochSeconds, type Item, readNumber, readText } from './dynamodb.ts';
import { listKey, listWith, readList, type SessionList, unlessChanged } from './session-list.ts';
import { failedConditions, transact, writeItem } from './transactions.ts';

const tableName = required('SESSIONS_TABLE');
/** Read when needed, not at load: of those who know sessions only the login makes them. */
const accountsTableName = () => required('ACCOUNTS_TABLE');
/** How long a login waits for uploads to the same account, and for other logins to it. */
const PATIENCE_MS = 5_000;
/** Calls at once, where many sessions are looked at or ended. */
const CONCURRENCY = 16;

/**
 * {@link SessionStore} in DynamoDB: one row for each session, under the hash of its token; and one row for each account,
 * which lists its sessions (`session-list.ts`), because the table's index by account is a moment behind.
 */
export const sessionStore: SessionStore = {
  async add(session) {
    const deadlineAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const outcome = await tryToAdd(session, await listOf(session.accountId), deadlineAt);
      if (outcome !== 'list changed') return outcome;
      if (Date.now() >= deadlineAt) throw serviceUnavailable({ detail: 'too many logins to one account at once' });
    }
  },

  async find(tokenHash) {
    const Item = await read(tokenHash);
    // A former version marked the sessions of a suspended account, and such a session must not come back.
    if (!Item || Item.suspended) return undefined;
    return {
      tokenHash,
      accountId: readText(Item, 'account_id'),
      createdAt: readTime(Item, 'created_at'),
      refreshedAt: readTime(Item, 'refreshed_at'),
      expiresAt: readTime(Item, 'expires_at'),
    };
  },

  async refresh({ tokenHash, refreshedAt, expiresAt }) {
    const command = {
      TableName: tableName,
      Key: keyOf(tokenHash),
      UpdateExpression: 'SET refreshed_at = :refreshed, expires_at = :expires',
      // Logged out meanwhile, or refreshed by a later request: then this one has nothing to add.
      ConditionExpression: 'attribute_exists(token_hash) AND refreshed_at < :refreshed',
      ExpressionAttributeValues: { ':refreshed': epochSeconds(refreshedAt), ':expires': epochSeconds(expiresAt) },
    };
    try {
      await writeItem(() => dynamoDb.send(new UpdateCommand(command)));
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  async remove(tokenHash) {
    await removeRow(tokenHash);
  },

  async removeAll(accountId, { last } = { last: undefined }) {
    const list = await listOf(accountId);
    const others = (await allOf(accountId, list)).filter((hash) => hash !== last);
    const removed = await eachOf(others, CONCURRENCY, removeRow);
    if (last !== undefined) removed.push(await removeRow(last));
    if (list) await removeList(accountId, list);
    return removed.filter(Boolean).length;
  },

  async countLive(accountId, now) {
    const hashes = await allOf(accountId, await listOf(accountId));
    const sessions = await eachOf(hashes, CONCURRENCY, sessionStore.find);
    return sessions.filter((session) => session && session.expiresAt > now).length;
  },
};

/** Times are kept in whole seconds, the unit of DynamoDB's TTL. @returns epoch milliseconds. */
const readTime = (item: Item, name: string) => readNumber(item, name) * 1_000;

const keyOf = (tokenHash: string) => ({ token_hash: tokenHash });

async function read(tokenHash: string): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: tableName, Key: keyOf(tokenHash), ConsistentRead: true });
  return (await dynamoDb.send(command)).Item;
}

async function listOf(accountId: string): Promise<SessionList | undefined> {
  const item = await read(listKey(accountId));
  return item && readList(item);
}

/**
 * Writes the session together with the list that has it. A later end of all sessions reads it there; an earlier suspension
 * of the account prevents it.
 */
async function tryToAdd(session: Session, known: SessionList | undefined, deadlineAt: number) {
  const { tokenHash, accountId, createdAt, refreshedAt, expiresAt } = session;
  const Item: Item = {
    ...keyOf(tokenHash),
    account_id: accountId,
    created_at: epochSeconds(createdAt),
    refreshed_at: epochSeconds(refreshedAt),
    expires_at: epochSeconds(expiresAt),
  };
  const account = {
    TableName: accountsTableName(),
    Key: { id: accountId },
    ConditionExpression: ACCOUNT_IS_OPEN,
  };
  const { item: list, tooMany } = listWith(known, session);
  const items = [
    { Put: { TableName: tableName, Item } },
    { ConditionCheck: account },
    { Put: { TableName: tableName, Item: list, ...unlessChanged(known) } },
    ...tooMany.map((hash) => ({ Delete: { TableName: tableName, Key: keyOf(hash) } })),
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

/**
 * The hash of every session of an account: those of its list, and by the index those that a version without lists made. (The
 * index may be a moment behind, but no session of that version is as young as that.)
 */
async function allOf(accountId: string, list: SessionList | undefined): Promise<string[]> {
  const pages = paginateQuery(
    { client: dynamoDb },
    {
      TableName: tableName,
      IndexName: 'by_account',
      KeyConditionExpression: 'account_id = :account',
      ExpressionAttributeValues: { ':account': accountId },
    },
  );
  const hashes = new Set(list?.ends.keys());
  for await (const { Items = [] } of pages) for (const item of Items) hashes.add(readText(item, 'token_hash'));
  return [...hashes];
}

/** @returns false when there was none. */
async function removeRow(tokenHash: string): Promise<boolean> {
  const command = { TableName: tableName, Key: keyOf(tokenHash), ReturnValues: 'ALL_OLD' } as const;
  const { Attributes } = await writeItem(() => dynamoDb.send(new DeleteCommand(command)));
  return Attributes !== undefined;
}

/** Removes the list, unless a login has written it since. What a death leaves of it names nothing that is there. */
async function removeList(accountId: string, list: SessionList): Promise<void> {
  const command = { TableName: tableName, Key: keyOf(listKey(accountId)), ...unlessChanged(list) };
  try {
    await writeItem(() => dynamoDb.send(new DeleteCommand(command)));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
