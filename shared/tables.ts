/**
 * The keys, indexes and expiry of every table. The stores and the stack read them here, so that code and deployed tables cannot
 * disagree. `docs/architecture/row-shapes.ts` says what each row holds.
 */

interface Key {
  readonly name: string;
  readonly type: 'S' | 'N';
}

interface Index {
  readonly partitionKey: Key;
  readonly sortKey: Key;
  /** The attributes that the index holds besides its keys; `ALL` means every attribute. */
  readonly include: readonly string[] | 'ALL';
}

export interface TableDefinition {
  /** The environment variable that holds the table's name. */
  readonly variable: string;
  readonly partitionKey: Key;
  readonly sortKey?: Key;
  /** The attribute with the time of expiry in epoch seconds. DynamoDB may delete the row days late, so readers check the time as well. */
  readonly ttl?: string;
  readonly localIndexes?: Readonly<Record<string, Index>>;
  readonly globalIndexes?: Readonly<Record<string, Index>>;
}

const text = (name: string): Key => ({ name, type: 'S' });
const number = (name: string): Key => ({ name, type: 'N' });

export const TABLES = {
  /** One row for each account: profile, used storage, counts, listing groups. */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: text('id') },
  /**
   * Files, tickets, leaves of the listing with their seals, and the state of the walk of the bucket.
   */
  files: {
    variable: 'FILES_TABLE',
    partitionKey: text('account_id'),
    sortKey: text('id'),
    localIndexes: {
      /**
       * Only ready files have `seq`, so only these are in the index. The index is local, because only a local index can be read strongly
       * consistently. So a file is listed right after its 201.
       */
      by_seq: {
        partitionKey: text('account_id'),
        sortKey: number('seq'),
        include: ['name', 'mime_type', 'size_bytes', 'object_key', 'created_at'],
      },
    },
    globalIndexes: {
      /**
       * Only deleted files whose objects still exist, and leaves whose seals have to be written, have these attributes. `work_shard` has
       * 64 values, so that the entries are spread over several partitions.
       */
      unfinished: { partitionKey: text('work_shard'), sortKey: number('work_due_at'), include: [] },
    },
  },
  /** Two rows for each API key: `hash#<sha256>` to authenticate requests, `account#<id>` to list the keys. */
  apiKeys: { variable: 'API_KEYS_TABLE', partitionKey: text('pk'), sortKey: text('sk') },
  sessions: {
    variable: 'SESSIONS_TABLE',
    partitionKey: text('token_hash'),
    ttl: 'expires_at',
  },
  /** `<class>#<limit>#<subject>`: a window of a rate limit. */
  rateLimits: { variable: 'RATE_LIMITS_TABLE', partitionKey: text('id'), ttl: 'expires_at' },
  /** One row for each key: `<account>#<Idempotency-Key>`. */
  idempotency: { variable: 'IDEMPOTENCY_TABLE', partitionKey: text('id'), ttl: 'expires_at' },
} as const satisfies Record<string, TableDefinition>;

export type TableName = keyof typeof TABLES;
