import { deflateRawSync } from 'node:zlib';
import { type AttributeValue, GetItemCommand, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { ROW_SHAPES, type RowShape } from '../../../docs/architecture/row-shapes.ts';
import { firstEndOf, newTicketId, type StoredFile, type Ticket } from '../../../shared/files/file.ts';
import { shardOf } from '../../../shared/files/shards.ts';
import { startAws } from '../../support/aws.ts';

/**
 * Every kind of row that the stores write, as DynamoDB holds it: read with a plain client, attribute by attribute with its type. Rows
 * outlive every version of the code. So whoever changes a kind of row also needs a plan for the rows that exist.
 */

type Row = Record<string, AttributeValue>;

const { engine, tables } = await startAws();
process.env.UPLOADS_BUCKET = 'files';
const { accountStore: accounts } = await import('../../../shared/aws/account-store.ts');
const { administrationStore: administration, keyMarkStore: keyMarks } = await import(
  '../../../shared/aws/administration-store.ts'
);
const { apiKeyCredentials, apiKeyStore: keys } = await import('../../../shared/aws/api-key-store.ts');
const { auditStore: audit } = await import('../../../shared/aws/audit-store.ts');
const { fileStore: files } = await import('../../../shared/aws/file-store.ts');
const { rateLimitStore: rateLimits } = await import('../../../shared/aws/rate-limit-store.ts');
const { releaseStore: releases } = await import('../../../shared/aws/release-store.ts');
const { sealStore: seals } = await import('../../../shared/aws/seal-store.ts');
const { settlementStore: settlements } = await import('../../../shared/aws/settlement-store.ts');
const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
const { ticketStore: tickets } = await import('../../../shared/aws/ticket-store.ts');
const { workStore: work } = await import('../../../shared/aws/work-store.ts');

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY = String(Math.floor(NOW / 86_400_000));
const deadline = () => ({ deadlineAt: Date.now() + 10_000 });
const limits = { storageLimitBytes: Number.MAX_SAFE_INTEGER, fileCountLimit: 10, uploadBytesPerDay: 1_000 };
/** The end of the listing of a new account. */
const NOTHING_KNOWN = { nextSeq: 0, lastFileAt: 0 };
const allowance = { limits, known: NOTHING_KNOWN };

/** The last digit of this id is a hexadecimal 10. It puts the file into shard 2, which is 10 modulo 4. */
const FILE = '01900000-0000-7000-8000-00000000000a';
const OTHER = '01900000-0000-7000-8000-00000000000b';
const rowOfAccount = (id: string) => rowAt(tables.accounts, { id: { S: id } });
const rowOfFile = (accountId: string, id = FILE) =>
  rowAt(tables.files, { account_id: { S: accountId }, id: { S: id } });

/** Every row that a test has looked at, for the last test. */
const seen: { readonly table: string; readonly row: Row }[] = [];

async function rowAt(TableName: string, Key: Row): Promise<Row | undefined> {
  const { Item } = await engine.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  if (Item) seen.push({ table: TableName, row: Item });
  return Item;
}

async function newAccount(): Promise<string> {
  const id = crypto.randomUUID();
  await accounts.upsert({ id, email: 'a@example.org', name: '', pictureUrl: 'https://example.org/a.png' }, NOW);
  return id;
}

/** Makes the account look as if it had had this many files. */
const setNextSeq = (id: string, next: number) =>
  engine.send(
    new UpdateItemCommand({
      TableName: tables.accounts,
      Key: { id: { S: id } },
      UpdateExpression: 'SET next_seq = :next, last_file_at = :now',
      ExpressionAttributeValues: { ':next': { N: String(next) }, ':now': { N: String(NOW) } },
    }),
  );

const fileOf = (accountId: string, id = FILE): StoredFile => ({
  accountId,
  id,
  name: 'ä 📷.txt',
  mimeType: 'text/plain',
  sizeBytes: 7,
  objectKey: 'uploads/token',
  createdAt: NOW,
});
const claim = { key: 'retry 1', fingerprint: 'f00', claimedAt: NOW + 999 };
const ticketOf = (accountId: string, more: Partial<Ticket> = {}): Ticket => ({
  accountId,
  id: newTicketId(NOW, 1_200_000),
  state: 'pending',
  name: 'ticket',
  mimeType: 'text/plain',
  sizeBytes: 0,
  attemptKeys: [],
  endsAt: NOW + 1_200_000,
  ...more,
});

/** The attributes that the row of a file has in every state. */
const keyOf = (accountId: string, id = FILE) => ({ account_id: { S: accountId }, id: { S: id } });
const shown = {
  name: { S: 'ä 📷.txt' },
  mime_type: { S: 'text/plain' },
  size_bytes: { N: '7' },
  object_key: { S: 'uploads/token' },
  created_at: { N: String(NOW) },
};

describe('the row of an account', () => {
  test('holds its profile, zeros and an empty map of groups after the first login', async () => {
    const id = await newAccount();
    expect(await rowOfAccount(id)).toEqual({
      id: { S: id },
      email: { S: 'a@example.org' },
      name: { S: '' },
      picture_url: { S: 'https://example.org/a.png' },
      created_at: { N: String(NOW) },
      storage_used_bytes: { N: '0' },
      file_count: { N: '0' },
      key_count: { N: '0' },
      next_seq: { N: '0' },
      last_file_at: { N: '0' },
      removed: { M: {} },
    });
  });

  test('holds what the operator sets, with every digit of the largest limit', async () => {
    const id = await newAccount();
    await administration.setStorageLimit(id, Number.MAX_SAFE_INTEGER);
    await administration.beginDeletion(id);
    expect(await rowOfAccount(id)).toMatchObject({
      storage_limit_bytes: { N: '9007199254740991' },
      suspended: { BOOL: true },
      deleting: { BOOL: true },
    });
    expect((await accounts.get(id))?.storageLimitBytes).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('holds the books that an audit rewrites', async () => {
    const id = await newAccount();
    const found = {
      storageUsedBytes: 0,
      fileCount: 0,
      nextSeq: 0,
      lastFileAt: 0,
      removedByGroup: new Map(),
      removedByLeaf: new Map(),
      revision: 0,
    };
    const computed = {
      storageUsedBytes: 9,
      fileCount: 190,
      nextSeq: 192,
      lastFileAt: NOW,
      removedByGroup: new Map([[0, 2]]),
      removedByLeaf: new Map([[2, 2n ** 63n + 1n]]),
    };
    expect(await audit.rewrite(id, found, computed, deadline())).toBe(true);
    expect(await rowOfAccount(id)).toMatchObject({
      storage_used_bytes: { N: '9' },
      file_count: { N: '190' },
      next_seq: { N: '192' },
      last_file_at: { N: String(NOW) },
      removed: { M: { 0: { N: '2' } } },
      books_revision: { N: '1' },
    });
    const leaf = { ...keyOf(id, '#leaf#00000000002'), removed: { N: '9223372036854775809' } };
    expect(await rowOfFile(id, '#leaf#00000000002')).toEqual(leaf);
  });
});

describe('the row of a file that came by a form', () => {
  test('is written together with the record of its Idempotency-Key, and is released later', async () => {
    const id = await newAccount();
    const file = fileOf(id);
    const settlement = { file, now: NOW, allowance, claim };
    expect(await settlements.settleUpload(settlement, deadline())).toEqual({ file, seq: 0 });
    const ready = { ...keyOf(id), ...shown, state: { S: 'ready' }, via: { S: 'form' }, seq: { N: '0' } };
    expect(await rowOfFile(id)).toEqual(ready);
    expect(await rowOfAccount(id)).toMatchObject({
      storage_used_bytes: { N: '7' },
      file_count: { N: '1' },
      next_seq: { N: '1' },
      last_file_at: { N: String(NOW) },
      removed: { M: {} },
      books_revision: { N: '1' },
      sent_day: { N: DAY },
      sent_bytes: { N: '7' },
    });
    expect(await rowAt(tables.idempotency, { id: { S: `${id}#retry 1` } })).toEqual({
      id: { S: `${id}#retry 1` },
      fingerprint: { S: 'f00' },
      file_id: { S: FILE },
      expires_at: { N: String(NOW / 1_000 + 86_400) },
      file: { M: shown },
    });
    const listed = { ...file, seq: 0, state: 'ready', via: 'form' } as const;
    expect(await files.get(file)).toEqual(listed);
    expect(await releases.releaseFile(listed, { now: NOW, dueAt: NOW + 5 }, deadline())).toBe('released');
    const { seq: _, ...rest } = ready;
    expect(await rowOfFile(id)).toEqual({
      ...rest,
      state: { S: 'deleting' },
      work_shard: { S: String(shardOf(id)) },
      work_due_at: { N: String(NOW + 5) },
    });
    expect(await rowOfAccount(id)).toMatchObject({ removed: { M: { 0: { N: '1' } } }, books_revision: { N: '2' } });
    expect(await rowOfFile(id, '#leaf#00000000000')).toEqual({
      ...keyOf(id, '#leaf#00000000000'),
      removed: { N: '1' },
      work_shard: { S: String(shardOf(id)) },
      work_due_at: { N: String(NOW + 86_400_000) },
    });
  });
});

describe('the row of a full leaf', () => {
  test('is work for the sweeper from its last file until its seal is written', async () => {
    const id = await newAccount();
    const known = { nextSeq: 127, lastFileAt: NOW };
    await setNextSeq(id, 127);
    expect(
      await settlements.settleUpload({ file: fileOf(id), now: NOW, allowance: { limits, known } }, deadline()),
    ).toMatchObject({ seq: 127 });
    const due = { work_shard: { S: String(shardOf(id)) }, work_due_at: { N: String(NOW) } };
    expect(await rowOfFile(id, '#leaf#00000000001')).toEqual({ ...keyOf(id, '#leaf#00000000001'), ...due });
    const item = { accountId: id, id: '#leaf#00000000001', leaf: 1, dueAt: NOW };
    expect(await work.due(shardOf(id), NOW, 1_000)).toContainEqual(item);
    expect(await work.dueAmongFew(NOW, 1_000)).toContainEqual(item);
    expect(await work.dueAmongFew(NOW - 1, 1_000)).not.toContainEqual(item);
    expect(await work.dueAmongFew(NOW, 1)).toBeUndefined();
    const atWork = { accountId: id, leaf: 1, removed: 0n, leaseEndsAt: NOW + 9 };
    expect(await work.leaseLeaf(item, NOW + 9)).toEqual(atWork);
    expect(await work.leaseLeaf(item, NOW + 9)).toBeUndefined();
    expect(await seals.seal(atWork, { names: '//b', unicode: '17.0' })).toBe('sealed');
    expect(await rowOfFile(id, '#leaf#00000000001')).toBeUndefined();
    const seal = {
      ...keyOf(id, '#names#00000000001'),
      folded: { B: new Uint8Array(deflateRawSync('//b')) },
      unicode: { S: '17.0' },
    };
    expect(await rowOfFile(id, '#names#00000000001')).toEqual(seal);
    expect(await seals.seals(id, { first: 0, last: 9 })).toEqual(new Map([[1, { names: '//b', unicode: '17.0' }]]));
    expect(await seals.seal(atWork, { names: 'late' })).toBe('changed');
    expect(await rowOfFile(id, '#names#00000000001')).toEqual(seal);
  });
});

describe('the row of a ticket', () => {
  const placeOf = ({ accountId, id }: Ticket) => ({
    account_id: { S: `#tickets#${shardOf(accountId)}` },
    id: { S: `${NOW + 1_200_000}#${accountId}#${id}` },
  });
  const rowOfTicket = (ticket: Ticket) => rowAt(tables.files, placeOf(ticket));
  const shownOfTicket = {
    state: { S: 'pending' },
    name: { S: 'ticket' },
    mime_type: { S: 'text/plain' },
    size_bytes: { N: '0' },
    ends_at: { N: String(NOW + 1_200_000) },
  };

  test('is at the place that its id says, and has no attributes for what the ticket does not have', async () => {
    const id = await newAccount();
    const ticket = ticketOf(id);
    expect(firstEndOf(ticket.id)).toBe(NOW + 1_200_000);
    expect(await settlements.reserve({ ticket, allowance: { limits, known: {} }, now: NOW }, deadline())).toBe(
      'reserved',
    );
    expect(await rowOfTicket(ticket)).toEqual({ ...placeOf(ticket), ...shownOfTicket });
    expect(await tickets.get(ticket)).toEqual(ticket);
    expect(await Array.fromAsync(tickets.ofAccount(id))).toEqual([ticket]);
    expect(await tickets.remove(ticket)).toBe(false);
    expect(await releases.releaseTicket(ticket, 'cancelled', deadline())).toBe('released');
    expect(await rowOfTicket(ticket)).toEqual({ ...placeOf(ticket), ...shownOfTicket, state: { S: 'cancelled' } });
    expect(await tickets.remove(ticket)).toBe(true);
    expect(await rowOfTicket(ticket)).toBeUndefined();
    expect(await tickets.remove(ticket)).toBe(false);
  });

  test('holds the keys of its attempts as a set of texts, and settles together with the row of its file', async () => {
    const id = await newAccount();
    const ticket = ticketOf(id, { sizeBytes: 7, checksumSha256: 'c29t', idempotency: claim });
    expect(await settlements.reserve({ ticket, allowance: { limits, known: {} }, now: NOW, claim }, deadline())).toBe(
      'reserved',
    );
    const withClaim = {
      ...placeOf(ticket),
      ...shownOfTicket,
      size_bytes: { N: '7' },
      checksum_sha256: { S: 'c29t' },
      idempotency: { M: { key: { S: 'retry 1' }, fingerprint: { S: 'f00' }, claimed_at: { N: String(NOW + 999) } } },
    };
    expect(await rowOfTicket(ticket)).toEqual(withClaim);
    expect(await tickets.get(ticket)).toEqual(ticket);
    expect(await rowAt(tables.idempotency, { id: { S: `${id}#retry 1` } })).toEqual({
      id: { S: `${id}#retry 1` },
      fingerprint: { S: 'f00' },
      file_id: { S: ticket.id },
      expires_at: { N: String(NOW / 1_000 + 86_400) },
    });
    await tickets.beginAttempt(ticket, { objectKey: 'uploads/lost', until: NOW + 1 }, NOW);
    await tickets.beginAttempt(ticket, { objectKey: 'uploads/token', until: NOW + 2 }, NOW + 1);
    const row = (await rowOfTicket(ticket)) ?? {};
    expect({ ...row, attempt_keys: { SS: row.attempt_keys?.SS?.toSorted() } }).toEqual({
      ...withClaim,
      attempt_key: { S: 'uploads/token' },
      attempt_until: { N: String(NOW + 2) },
      attempt_keys: { SS: ['uploads/lost', 'uploads/token'] },
    });
    expect(await tickets.get(ticket)).toMatchObject({
      attemptKeys: expect.arrayContaining(['uploads/lost', 'uploads/token']),
    });
    const file = fileOf(id, ticket.id);
    const settlement = { ticket, file, known: NOTHING_KNOWN, now: NOW, fileCountLimit: 10 };
    expect(await settlements.settleTicket(settlement, deadline())).toEqual({ file, seq: 0 });
    const { idempotency: _, ...kept } = withClaim;
    expect(await rowOfTicket(ticket)).toEqual({
      ...kept,
      state: { S: 'settled' },
      attempt_key: { S: 'uploads/token' },
      attempt_keys: { SS: ['uploads/lost'] },
    });
    expect(await tickets.get(ticket)).toMatchObject({ state: 'settled', attemptKeys: ['uploads/lost'] });
    expect(await tickets.endAttempt(ticket, 'uploads/token')).toBe('settled');
    expect(await rowOfFile(id, ticket.id)).toEqual({
      ...keyOf(id, ticket.id),
      ...shown,
      state: { S: 'ready' },
      via: { S: 'ticket' },
      seq: { N: '0' },
    });
  });
});

test('the rows of an API key are the key with its account and the pointer to it', async () => {
  const accountId = await newAccount();
  const keyHash = crypto.randomUUID();
  const key = { keyHash, accountId, id: OTHER, name: 'my key', keyPrefix: 'svc_test_ab', createdAt: NOW };
  expect(await keys.add(key, { limit: 1, ...deadline() })).toBe('added');
  await apiKeyCredentials.noteUse(keyHash, NOW + 1, NOW);
  await administration.suspend(accountId);
  expect(await keyMarks.mark(accountId, { hash: keyHash, id: OTHER }, true, deadline())).toBe(true);
  expect(await rowAt(tables.apiKeys, { pk: { S: `hash#${keyHash}` }, sk: { S: 'key' } })).toEqual({
    pk: { S: `hash#${keyHash}` },
    sk: { S: 'key' },
    account_id: { S: accountId },
    id: { S: OTHER },
    name: { S: 'my key' },
    key_prefix: { S: 'svc_test_ab' },
    created_at: { N: String(NOW) },
    last_used_at: { N: String(NOW + 1) },
    suspended: { BOOL: true },
  });
  expect(await rowAt(tables.apiKeys, { pk: { S: `account#${accountId}` }, sk: { S: OTHER } })).toEqual({
    pk: { S: `account#${accountId}` },
    sk: { S: OTHER },
    key_hash: { S: keyHash },
  });
  expect(await rowOfAccount(accountId)).toMatchObject({ key_count: { N: '1' } });
});

test('the rows of a session are the session and the list of its account', async () => {
  const accountId = await newAccount();
  const { startSession } = await import('../../../shared/sessions/session.ts');
  await startSession(sessions, { accountId, userAgent: '' }, () => NOW + 1);
  const { Items = [] } = await engine.send(new ScanCommand({ TableName: tables.sessions }));
  const session = Items.find(({ account_id }) => account_id?.S === accountId);
  const hash = session?.token_hash?.S ?? '';
  expect(session).toEqual({
    token_hash: { S: hash },
    account_id: { S: accountId },
    device: { S: 'Unknown device' },
    created_at: { N: String(NOW / 1_000) },
    refreshed_at: { N: String(NOW / 1_000) },
    expires_at: { N: String(NOW / 1_000 + 7 * 86_400) },
  });
  expect(Items.find(({ token_hash }) => token_hash?.S === `account#${accountId}`)).toEqual({
    token_hash: { S: `account#${accountId}` },
    hashes: { SS: [hash] },
    newest: { S: hash },
    expires_at: { N: String(NOW / 1_000 + 30 * 86_400) },
  });
});

describe('the row of a rate limit', () => {
  const rowOf = (id: string) => rowAt(tables.rateLimits, { id: { S: id } });
  const expiry = { N: expect.stringMatching(/^\d{10}$/) };

  test('is a list of the last uses of its slots', async () => {
    const policy = { limit: 2, slots: 2 };
    await rateLimits.attempt('own', policy, { kind: 'create', window: { stamps: [0, 5], left: 0 } });
    expect(await rowOf('own')).toEqual({ id: { S: 'own' }, l: { L: [{ N: '0' }, { N: '5' }] }, expires_at: expiry });
    const opened = await rateLimits.attempt('own', policy, { kind: 'open', stamp: 9, expired: 3 });
    expect(opened).toEqual({ done: true, window: { stamps: [5, 9], left: 0 } });
    const full = await rateLimits.attempt('own', policy, { kind: 'open', stamp: 10, expired: 3 });
    expect(full).toEqual({ done: false, window: { stamps: [5, 9], left: 0 } });
    expect(await rowOf('own')).toMatchObject({ l: { L: [{ N: '5' }, { N: '9' }] } });
  });

  test('also has the sizes of shared slots, and the uses left in the newest one', async () => {
    const policy = { limit: 4, slots: 2 };
    const window = { stamps: [0, 5], sizes: [2, 2], left: 1 };
    await rateLimits.attempt('shared', policy, { kind: 'create', window });
    const used = await rateLimits.attempt('shared', policy, { kind: 'use', stamp: 6, expired: 3 });
    expect(used).toEqual({ done: true, window: { ...window, stamps: [0, 6], left: 0 } });
    const [l, u] = [{ L: [{ N: '0' }, { N: '6' }] }, { L: [{ N: '2' }, { N: '2' }] }];
    expect(await rowOf('shared')).toEqual({ id: { S: 'shared' }, l, u, c: { N: '0' }, expires_at: expiry });
  });
});

test('the row of the walk of a range of the bucket holds its progress, and its position if it has one', async () => {
  const walk = { startedAt: NOW, isOver: false, checkedBefore: 1, until: 2, hasFailed: true };
  const row = {
    ...keyOf('#walk', '63'),
    started_at: { N: String(NOW) },
    is_over: { BOOL: false },
    checked_before: { N: '1' },
    until: { N: '2' },
    has_failed: { BOOL: true },
  };
  await work.saveWalk(63, { ...walk, after: '' });
  expect(await rowOfFile('#walk', '63')).toEqual({ ...row, after: { S: '' } });
  expect(await work.walks()).toEqual(new Map([[63, { ...walk, after: '' }]]));
  await work.saveWalk(63, walk);
  expect(await rowOfFile('#walk', '63')).toEqual(row);
  expect(await work.walks()).toEqual(new Map([[63, walk]]));
});

/** Runs last: it needs the rows that the other tests have seen. */
describe('the rows that docs/architecture.md shows', () => {
  const shapeOf = (table: string, row: Row) =>
    ROW_SHAPES.filter((shape) => tables[shape.table] === table).filter(({ key }) =>
      Object.entries(key).every(([name, { pattern }]) => pattern.test(row[name]?.S ?? '')),
    );

  test('include every row that the stores write, with the type of each attribute', async () => {
    for (const TableName of Object.values(tables)) {
      const { Items = [] } = await engine.send(new ScanCommand({ TableName }));
      seen.push(...Items.map((row) => ({ table: TableName, row })));
    }
    for (const { table, row } of seen) {
      const shapes = shapeOf(table, row);
      expect(shapes, JSON.stringify(row)).toHaveLength(1);
      const [{ key, attributes }] = shapes as [RowShape];
      const others = Object.entries(row).filter(([name]) => !(name in key));
      for (const [name, value] of others) expect([name, attributes[name]?.[0]]).toEqual([name, ...Object.keys(value)]);
    }
  });

  test('have no attribute that no store writes', () => {
    for (const shape of ROW_SHAPES) {
      const rows = seen.filter(({ table, row }) => shapeOf(table, row).includes(shape)).map(({ row }) => row);
      const never = Object.keys(shape.attributes).filter((name) => !rows.some((row) => name in row));
      expect({ kind: shape.kind, never }).toEqual({ kind: shape.kind, never: [] });
    }
  });
});
