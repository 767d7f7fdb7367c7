import { SHARDS } from '../../shared/contract/limits.ts';
import type { TableName } from '../../shared/tables.ts';

/**
 * Every kind of row in the tables, for docs/architecture.md. test/shared/aws/rows.test.ts compares this file with the rows that the stores
 * really write. The test fails when an attribute is missing in this file, has another type, or is never written.
 */

/** The version of the shapes below. A change of a shape raises it, and is deployed as docs/operate.md says. */
export const LAYOUT_VERSION = 1;

const SHARD = `\`0\` to \`${SHARDS - 1}\``;

/** DynamoDB's names for: text, number, bytes, true or false, map, list, set of texts. */
type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'M' | 'L' | 'SS';

export interface RowShape {
  readonly table: TableName;
  readonly kind: string;
  /** The attributes of its key: for each a text that the page shows, and a pattern by which the test recognises rows of this kind. */
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
      next_seq: ['N', 'the `seq` of the next file, which is the number of files that the account has ever had'],
      last_file_at: [
        'N',
        'ms; `created_at` of the newest file that the account has ever had, even if it is deleted; 0 before the first file',
      ],
      removed: [
        'M',
        'group → number of its deleted files (I4). A number of 8,192 × k means that all files of this group and of the k − 1 groups after it are deleted',
      ],
      books_revision: ['N', 'raised by every transaction that changes the books; 0 while it is absent'],
      sent_day: ['N', 'the UTC day of `sent_bytes`, in days since 1970; absent at first'],
      sent_bytes: ['N', 'bytes sent on that day (I11); absent at first'],
      key_count: ['N', 'API keys'],
      storage_limit_bytes: [
        'N',
        'bytes; the limit that the operator set for this account; if it is absent, `STORAGE_LIMIT_BYTES` is the limit',
      ],
      suspended: ['BOOL', 'true while nothing may be added to the account; otherwise absent'],
      deleting: ['BOOL', 'true from the beginning of `delete-account` on; otherwise absent'],
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
      seq: ['N', 'place in the listing; present only in a `ready` row, and puts this row into the index `by_seq`'],
      work_shard: [
        'S',
        `${SHARD}; present only in a \`deleting\` row, and puts this row into the index \`unfinished\``,
      ],
      work_due_at: ['N', 'ms; the sweeper may take the row from then on; present together with `work_shard`'],
    },
  },
  {
    table: 'files',
    kind: 'ticket',
    key: {
      account_id: key(`\`#tickets#<0 to ${SHARDS - 1}>\`, by the last digits of the account id`, /^#tickets#\d{1,3}$/),
      id: key(
        '`<ms>#<account id>#<id>`, where `<id>` is the UUID of the ticket, and `<ms>` is the time at which the ticket ends if it is not renewed. The UUID encodes this time as well',
        /^\d{13}#[0-9a-f-]{36}#[0-9a-f-]{36}$/,
      ),
    },
    attributes: {
      state: ['S', '`pending`, `settled`, `cancelled`, `refused` or `ended`'],
      name: ['S', 'file name'],
      mime_type: ['S', 'media type'],
      size_bytes: ['N', 'bytes'],
      checksum_sha256: ['S', 'base64; as the client announced it'],
      ends_at: ['N', 'ms when the ticket ends; later than `<ms>` in the key if the ticket was renewed'],
      attempt_key: [
        'S',
        'object key of the attempt that holds the lease to complete the ticket, or that made the file',
      ],
      attempt_until: ['N', 'ms when that lease ends'],
      attempt_keys: [
        'SS',
        'object keys of all attempts except the one that made the file. When the ticket ends, the sweeper removes the copies that are still there',
      ],
      idempotency: ['M', '`key`, `fingerprint` (hex SHA-256), `claimed_at` (ms); removed when the ticket is settled'],
    },
  },
  {
    table: 'files',
    kind: 'leaf',
    key: { account_id: ACCOUNT, id: key('`#leaf#<number>`', /^#leaf#\d{11}$/) },
    attributes: {
      removed: [
        'N',
        'bitmap of its deleted files (I4). Bit i, of value 2^i, stands for the file at seq 64 × the number of the leaf + i',
      ],
      work_shard: [
        'S',
        `${SHARD}; present while the seal is missing or out of date; puts this row into the index \`unfinished\``,
      ],
      work_due_at: ['N', 'ms; the sweeper writes the seal from then on; present together with `work_shard`'],
    },
  },
  {
    table: 'files',
    kind: 'seal of a leaf',
    key: { account_id: ACCOUNT, id: key('`#names#<number>`', /^#names#\d{11}$/) },
    attributes: {
      folded: [
        'B',
        'the folded names of the files at its 64 seqs (I15), with `/` between them, compressed by DEFLATE. The name of a deleted file is empty',
      ],
      unicode: [
        'S',
        'version of Unicode by which the names were folded; absent if every later version folds these names in the same way',
      ],
    },
  },
  {
    table: 'files',
    kind: 'walk of the bucket',
    key: {
      account_id: key('`#walk`', /^#walk$/),
      id: key(`\`<0 to ${SHARDS - 1}>\`: a range of the keys in the bucket`, /^\d{1,3}$/),
    },
    attributes: {
      started_at: ['N', 'ms'],
      after: [
        'S',
        'the last object key of the last page that was checked; absent before the first page of the range and after the last',
      ],
      is_over: ['BOOL', 'true when the walk is done'],
      checked_before: ['N', 'ms; earlier walks have checked the objects that were stored before this time'],
      until: ['N', 'ms; objects that were stored at or after this time are left to the next walk'],
      has_failed: ['BOOL', 'true when an object could not be checked'],
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
      last_used_at: ['N', 'ms; noted at most once a minute; absent until the key is used'],
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
      device: ['S', 'browser and system at the login, in our words; absent in rows of earlier versions'],
      created_at: ['N', 's'],
      refreshed_at: ['N', 's of the last use that was noted; the idle time counts from it'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'sessions',
    kind: 'list of the sessions of an account',
    key: { token_hash: key('`account#<account id>`', /^account#/) },
    attributes: {
      hashes: ['SS', 'hashes of the tokens of the sessions; some may have ended'],
      newest: ['S', 'hash of the session that was added last'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'rateLimits',
    kind: 'window of a rate limit',
    key: { id: key('`<class>#<limit>#<account or address>`', /./) },
    attributes: {
      l: ['L', 'the time of the last use of each slot, oldest first, in units of 10 ms since the beginning of 2026'],
      u: ['L', 'how many requests each slot stands for, in the same order; only if the limit is over 120'],
      c: ['N', 'how many requests are left in the newest slot; only if the limit is over 120'],
      expires_at: ['N', 's; TTL'],
    },
  },
  {
    table: 'idempotency',
    kind: 'record of an `Idempotency-Key`',
    key: { id: key('`<account id>#<key>`', /#/) },
    attributes: {
      fingerprint: ['S', 'hex SHA-256 of what the request asks for'],
      file_id: ['S', 'id of the file or ticket that the key stands for'],
      file: [
        'M',
        'five attributes of the file, as the first answer had them; absent while the key stands for a ticket',
      ],
      expires_at: ['N', 's, 24 hours after the claim; TTL'],
    },
  },
];
