import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { accountsOf } from '../../local-aws/identity-provider/accounts.ts';
import type { LocalService } from '../../local-aws/service.ts';
import { type ApiKeyStore, createApiKey } from '../../shared/api-keys/api-key.ts';
import { SESSION_MAX_MS } from '../../shared/contract/limits.ts';
import { sessionCookie } from '../../shared/http/cookies.ts';
import { accountIdOf } from '../../shared/login/identity.ts';
import { type Session, type SessionStore, startSession } from '../../shared/sessions/session.ts';
import type { TableName } from '../../shared/tables.ts';

/** A person who has logged in and created an API key: the account, the session and the key. */
export interface Credentials {
  readonly id: string;
  readonly email: string;
  /** The `Cookie` header of the session. */
  readonly cookie: string;
  readonly key: string;
}

/**
 * Writes the rows that a login with a new address and `POST /api-keys` leave (test/service/accounts.test.ts compares them). A login
 * takes a dozen requests and starts three functions, and most tests only need the account.
 */
export async function writeAccount(
  dynamoDb: DynamoDBClient,
  { urls, tables }: { readonly urls: LocalService['urls']; readonly tables: Readonly<Record<TableName, string>> },
): Promise<Credentials> {
  const email = `${randomUUID()}@example.com`;
  const users = accountsOf(urls.identity_provider_url);
  const subject = users.add(email);
  const claims = await users.find(subject)?.claims('id_token', 'openid', {}, []);
  const id = accountIdOf(urls.identity_provider_url, subject);
  const { token, session } = await newSession(id);
  const { key, stored } = await newKey(id);
  const none = { storage_used_bytes: 0, file_count: 0, next_seq: 0, last_file_at: 0, removed: {} };
  const profile = { email, name: claims?.name, picture_url: claims?.picture, created_at: session.createdAt };
  const account = { id, ...profile, key_count: 1, ...none };
  const rows: readonly (readonly [TableName, Record<string, unknown>])[] = [
    ['accounts', account],
    ...sessionRows(session).map((row) => ['sessions', row] as const),
    ...keyRows(stored).map((row) => ['apiKeys', row] as const),
  ];
  const RequestItems = Object.fromEntries(
    Object.entries(Object.groupBy(rows, ([table]) => tables[table])).map(([table, of = []]) => [
      table,
      of.map(([, row]) => ({ PutRequest: { Item: marshall(row) } })),
    ]),
  );
  await dynamoDb.send(new BatchWriteItemCommand({ RequestItems }));
  const [cookie = ''] = sessionCookie(token, urls.root_url).split(';');
  return { id, email, cookie, key };
}

async function newSession(accountId: string): Promise<{ token: string; session: Session }> {
  const sessions: Session[] = [];
  const store: Pick<SessionStore, 'add'> = {
    add: async (session) => {
      sessions.push(session);
      return 'added';
    },
  };
  const token = await startSession(store as SessionStore, { accountId, userAgent: '' });
  return { token, session: sessions[0] as Session };
}

type NewKey = Parameters<ApiKeyStore['add']>[0];

async function newKey(accountId: string): Promise<{ key: string; stored: NewKey }> {
  const keys: NewKey[] = [];
  const store: Pick<ApiKeyStore, 'add'> = {
    add: async (key) => {
      keys.push(key);
      return 'added';
    },
  };
  const request = { accountId, name: 'test', kind: 'test', deadlineAt: Number.POSITIVE_INFINITY } as const;
  const { key } = await createApiKey(store as ApiKeyStore, request);
  return { key, stored: keys[0] as NewKey };
}

/** As in shared/aws/session-store.ts: the session, and the list of the account's sessions. */
function sessionRows({ tokenHash, accountId, device, createdAt, refreshedAt, expiresAt }: Session) {
  const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000);
  const times = { created_at: seconds(createdAt), refreshed_at: seconds(refreshedAt), expires_at: seconds(expiresAt) };
  const end = seconds(createdAt + SESSION_MAX_MS);
  return [
    { token_hash: tokenHash, account_id: accountId, device, ...times },
    { token_hash: `account#${accountId}`, hashes: new Set([tokenHash]), newest: tokenHash, expires_at: end },
  ];
}

/** As in shared/aws/api-key-store.ts: the key, and the row of its account that points to it. */
function keyRows({ keyHash, accountId, id, name, keyPrefix, createdAt }: NewKey): Record<string, unknown>[] {
  const key = { account_id: accountId, id, name, key_prefix: keyPrefix, created_at: createdAt };
  return [
    { pk: `hash#${keyHash}`, sk: 'key', ...key },
    { pk: `account#${accountId}`, sk: id, key_hash: keyHash },
  ];
}
