import type { TableName } from '../../shared/aws/tables.ts';

/**
 * Every kind of row in the tables, for docs/architecture.md. test/shared/aws/rows.test.ts compares it with the rows that
 * the stores really write: it fails when an attribute is missing in this file, has another type, or is never written.
 */

/** The number of the form of the rows. A change of the form raises it, and is rolled out as docs/operate.md says. */
export const LAYOUT_VERSION = 1;

/** As DynamoDB names them: text, number, bytes, true or false, map, list, set of texts. */
type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'M' | 'L' | 'SS';

export interface RowShape {
  readonly table: TableName;
  readonly kind: string;
  /** What the attributes of its key look like: a text for the reader, and a pattern that tells the kinds of rows in a table apart. */
  readonly key: Readonly<Record<string, { readonly shown: string; readonly pattern: RegExp }>>;
  /** Type and meaning of every other attribute. */
  readonly attributes: Readonly<Record<string, readonly [AttributeType, string]>>;
}

const key = (shown: string, pattern: RegExp) => ({ shown, pattern });
const ACCOUNT = key('account id', /^[0-9a-f-]{36}$/);

export const ROW_SHAPES: readonly RowShape[] = [
  {
    table: 'accounts',
    kind: 'account',
    key: { id: key('UUIDv5 of issuer and Google `sub`', /^[0-9a-f-]{36}$/) },
    attributes: {
      email: ['S', 'profile, rewritten at every login'],
      name: ['S', 'profile'],
      picture_url: ['S', 'profile; absent without a picture'],
      created_at: ['N', 'ms'],
      storage_used_bytes: ['N', 'bytes of ready files and of pending tickets (I1)'],
      file_count: ['N', 'ready files (I3)'],
      next_seq: ['N', 'the `seq` of the next file: how many files the account has ever had'],
      last_file_at: [
        'N',
        'ms; `created_at` of the newest file that the account has ever had, which never decreases; 0 before the first',
      ],
      removed: [
        'M',
        'group → number of its deleted files. If the number is 8,192 × k, it stands for this group and the k − 1 groups after it, whose files are all deleted (I4)',
      ],
      fence: [
        'N',
        'raised when an upload is given up: then no transaction that read an earlier value can make a file (I7)',
      ],
      books_revision: ['N', 'raised by every transaction that changes the books; 0 while it is absent'],
      sent_day: ['N', 'the UTC day of `sent_bytes`, in days since 1970; absent at first'],
      sent_bytes: ['N', 'bytes sent on that day (I11); absent at first'],
      key_count: ['N', 'API keys'],
      storage_limit_bytes: [
        'N',
        'bytes; the limit that the operator set for this account; while it is absent, the default holds',
      ],
      suspended: ['BOOL', 'true while nothing may be added to the account; otherwise absent'],
      deleting: ['BOOL', 'true once `delete-account` has begun; otherwise absent'],
    },
  },
  {
    table: 'files',
    kind: 'file',
    key: { account_id: ACCOUNT, id: key('UUIDv7', /^[0-9a-f-]{36}$/) },
    attributes: {
      state: ['S', '`ready` or `deleting`'],
      via: ['S', 'how the bytes came: `form` or `ticket`'],
      name: ['S', 'file name'],
      mime_type: ['S', 'media type'],
      size_bytes: ['N', 'bytes'],
      object_key: ['S', '`uploads/<token>`'],
      created_at: ['N', 'ms when it became ready'],
      seq: ['N', 'place in the listing; only ready rows have it, which puts them into the index `by_seq`'],
      work_shard: ['S', '`0` to `3`; with `work_due_at` puts a `deleting` row into the index `unfinished`'],
      work_due_at: ['N', 'ms; the sweeper may take the row from then on'],
    },
  },
  {
    table: 'files',
    kind: 'ticket',
    key: {
      account_id: key('`#tickets#<0 to 3>`, by the last digit of the account id', /^#tickets#[0-3]$/),
      id: key(
        '`<ms>#<account id>#<id>`, where `<id>` is the UUID of the ticket, and `<ms>` is when the ticket ends if it is not renewed; the UUID encodes this time as well',
        /^\d{13}#[0-9a-f-]{36}#[0-9a-f-]{36}$/,
      ),
    },
    attributes: {
      state: ['S', '`pending`, `settled`, `cancelled`, `refused` or `ended`'],
      name: ['S', 'file name'],
      mime_type: ['S', 'media type'],
      size_bytes: ['N', 'bytes'],
      checksum_sha256: ['S', 'base64; as the client announced it'],
      ends_at: [
        'N',
        'ms; a PUT of the ticket may arrive until then; later than `<ms>` in the key if the ticket was renewed',
      ],
      attempt_key: ['S', 'object key of the attempt that holds the lease to complete the ticket, or has settled it'],
      attempt_until: ['N', 'ms when that lease ends'],
      attempt_keys: [
        'SS',
        'object keys of all attempts except the one that made the file; when the ticket ends, the sweeper removes what is left of their copies',
      ],
      idempotency: ['M', '`key`, `fingerprint` (hex SHA-256), `claimed_at` (ms); removed when the ticket is settled'],
    },
  },
  {
    table: 'files',
    kind: 'leaf',
    key: { account_id: ACCOUNT, id: key('`#leaf#<number>`', /^#leaf#(\d{6}|a\d{11})$/) },
    attributes: {
      removed: ['N', 'bitmap of its deleted files: bit i, of value 2^i, is the file at seq 64 × number + i (I4)'],
      work_shard: ['S', 'as in the row of a file; present while its seal is missing or out of date'],
      work_due_at: ['N', 'ms; the sweeper writes the seal from then on; present together with `work_shard`'],
    },
  },
  {
    table: 'files',
    kind: 'seal of a leaf',
    key: { account_id: ACCOUNT, id: key('`#names#<number>`', /^#names#(\d{6}|a\d{11})$/) },
    attributes: {
      folded: [
        'B',
        'DEFLATE of the folded names of its 64 seqs, with `/` between them; empty where the file is deleted (I15)',
      ],
      unicode: [
        'S',
        'version of Unicode by which the names were folded; absent when every later version folds them in the same way',
      ],
    },
  },
  {
    table: 'files',
    kind: 'list of the ids of a leaf',
    key: { account_id: ACCOUNT, id: key('`#ids#<number>`', /^#ids#(\d{6}|a\d{11})$/) },
    attributes: {
      ids: ['B', 'written with the seal: 16 bytes for each of its 64 seqs, zeros where the file was deleted'],
    },
  },
  {
    table: 'files',
    kind: 'note of up to 24 deletions of an account within 5 s',
    key: {
      account_id: key('`#deletions#<0 to 3>`', /^#deletions#[0-3]$/),
      id: key(
        '`<ms>#<account id>`, where `<ms>` is the time of the deletion, rounded down to a multiple of 5,000 ms. When this note is full, a file goes into the note `<ms>#<account id>#<last digit of the file id>`, and when that is full as well, into `<ms>#<account id>#<file id>`',
        /^\d{13}#[0-9a-f-]{36}(#[0-9a-f]|#[0-9a-f-]{36})?$/,
      ),
    },
    attributes: { file_ids: ['SS', 'the files; present until the sweeper has repeated the deletions (I6)'] },
  },
  {
    table: 'files',
    kind: 'walk of the bucket',
    key: { account_id: key('`#walk`', /^#walk$/), id: key('`#walk`', /^#walk$/) },
    attributes: {
      started_at: ['N', 'ms'],
      after: ['S', 'the last object key that was checked; absent at the beginning and end'],
      is_over: ['BOOL', 'the walk is done'],
      checked_before: ['N', 'ms; earlier walks have checked the objects that are older than this'],
      until: ['N', 'ms; objects that are younger than this are left to the next walk'],
      has_failed: ['BOOL', 'an object could not be checked'],
    },
  },
  {
    table: 'apiKeys',
    kind: 'key',
    key: { pk: key('`hash#<SHA-256 of the key>`', /^hash#/), sk: key('`key`', /^key$/) },
    attributes: {
      account_id: ['S', 'account id'],
      id: ['S', 'UUIDv7 of the key'],
      name: ['S', 'as its owner named it'],
      key_prefix: ['S', 'the first 12 characters'],
      created_at: ['N', 'ms'],
      last_used_at: ['N', 'ms, noted at most once a minute; absent until it is used'],
      suspended: ['BOOL', 'true while its account is suspended; otherwise absent'],
    },
  },
  {
    table: 'apiKeys',
    kind: 'pointer from an account to its key',
    key: { pk: key('`account#<account id>`', /^account#/), sk: key('UUIDv7 of the key', /^[0-9a-f-]{36}$/) },
    attributes: { key_hash: ['S', 'SHA-256 of the key, by which its row is found'] },
  },
  {
    table: 'sessions',
    kind: 'session',
    key: { token_hash: key('hex SHA-256 of the token', /^[0-9a-f]{64}$/) },
    attributes: {
      account_id: ['S', 'account id'],
      created_at: ['N', 's'],
      refreshed_at: ['N', 's when the idle time last restarted'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'sessions',
    kind: 'list of the sessions of an account',
    key: { token_hash: key('`account#<account id>`', /^account#/) },
    attributes: {
      ends: ['M', 'hash of each session → when it ends at the latest, in s'],
      newest: ['S', 'hash of the session that was added last'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'rateLimits',
    kind: 'window of a rate limit',
    key: { id: key('`<class>#<limit>#<account or address>`', /^(?!streams#|turns#)/) },
    attributes: {
      l: ['L', 'last use of each slot, oldest first, in units of 10 ms since 2026'],
      u: ['L', 'sizes of the slots, in the same order; only of limits over 120'],
      c: ['N', 'uses left in the newest slot; only of limits over 120'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'rateLimits',
    kind: 'turns of an account',
    key: { id: key('`turns#<account id>#<time in units of 2 s>`', /^turns#/) },
    attributes: {
      first_at: ['N', 'ms when the first turn begins'],
      taken_ms: ['N', 'length of all turns that uploads have taken, one after the other'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'rateLimits',
    kind: 'streams of an account',
    key: { id: key('`streams#<account id>`', /^streams#/) },
    attributes: { slots: ['M', 'open stream → ms when its lease ends'], expires_at: ['N', 's; TTL'] },
  },
  {
    table: 'idempotency',
    kind: 'record of an `Idempotency-Key`',
    key: { id: key('`<account id>#<key>`', /#/) },
    attributes: {
      fingerprint: ['S', 'hex SHA-256 of what the request asks for'],
      file_id: ['S', 'the file or ticket that it stands for'],
      file: ['M', 'the file as it was first answered: five attributes of its row; absent while it is a ticket'],
      expires_at: ['N', 's, 24 hours after the claim; TTL'],
    },
  },
];
