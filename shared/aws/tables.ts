/**
 * Keys, indexes and expiry of every table, read by the stores and by the stack, so that code and deployed table cannot
 * disagree. What the rows hold is said in the store that writes them.
 */

interface Key {
  readonly name: string;
  readonly type: 'S' | 'N';
}

interface Index {
  readonly partitionKey: Key;
  readonly sortKey: Key;
  /** Attributes copied into the index besides its keys; `ALL` copies everything. */
  readonly include: readonly string[] | 'ALL';
}

export interface TableDefinition {
  /** The environment variable that holds the table's name. */
  readonly variable: string;
  readonly partitionKey: Key;
  readonly sortKey?: Key;
  /** Attribute with the time of expiry in epoch seconds. DynamoDB may delete days late: readers check it as well. */
  readonly ttl?: string;
  readonly localIndexes?: Readonly<Record<string, Index>>;
  readonly globalIndexes?: Readonly<Record<string, Index>>;
}

const text = (name: string): Key => ({ name, type: 'S' });
const number = (name: string): Key => ({ name, type: 'N' });

export const TABLES = {
  /** Profile, storage used, counts, listing groups: one row an account. */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: text('id') },
  /** File records, and the listing counters of the account (`seq`, leaves) beside them. */
  files: {
    variable: 'FILES_TABLE',
    partitionKey: text('account_id'),
    sortKey: text('id'),
    localIndexes: {
      /** Ready files alone have `seq`. A local index, because it can be read strongly: "201, then list" holds. */
      by_seq: {
        partitionKey: text('account_id'),
        sortKey: number('seq'),
        include: ['name', 'mime_type', 'size_bytes', 'object_key', 'created_at'],
      },
    },
    globalIndexes: {
      /** Sparse: only rows that still need work have these. Sixteen shards, so that no partition takes every upload. */
      unfinished: { partitionKey: text('work_shard'), sortKey: number('work_due_at'), include: [] },
    },
  },
  /** Two rows a key: `hash#<sha256>` authenticates, `account#<id>` lists. */
  apiKeys: { variable: 'API_KEYS_TABLE', partitionKey: text('pk'), sortKey: text('sk') },
  sessions: {
    variable: 'SESSIONS_TABLE',
    partitionKey: text('token_hash'),
    ttl: 'expires_at',
    globalIndexes: {
      by_account: { partitionKey: text('account_id'), sortKey: number('created_at'), include: [] },
    },
  },
  /** One row a window: `<class>#<limit>#<subject>`. */
  rateLimits: { variable: 'RATE_LIMITS_TABLE', partitionKey: text('id'), ttl: 'expires_at' },
  /** `<account>#<Idempotency-Key>`. */
  idempotency: { variable: 'IDEMPOTENCY_TABLE', partitionKey: text('id'), ttl: 'expires_at' },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof TABLES;
