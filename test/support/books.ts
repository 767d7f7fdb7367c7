import { isDeepStrictEqual } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { type AttributeValue, paginateScan, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { HeadObjectCommand, ListMultipartUploadsCommand, NotFound, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import type { Operator } from './operator.ts';

/**
 * An independent audit of the files of accounts: it shares no code with the service, only the names of tables and attributes. It reads
 * the rows of the accounts and of their files, and the bucket. From the ready files and the pending tickets it computes what everything
 * else must be (docs/architecture.md, I1, I3 to I6 and I15). The audit is valid only while no upload or deletion is running.
 */
export interface Books {
  /** One sentence per violated invariant; empty when the books balance. */
  readonly problems: string[];
  /** What the sweeper still has to finish: files as `<state> file`, and tickets as `<state> ticket`. */
  readonly unfinished: string[];
  accountOf(accountId: string): AccountBooks;
}

interface AccountBooks {
  readonly usedBytes: number;
  readonly fileCount: number;
  /** The names of the ready files, in alphabetical order. */
  readonly names: string[];
}

type Row = Record<string, AttributeValue>;

const LEAF_SEQS = 64;
const GROUP_SEQS = 8_192;

/**
 * Reads the books of these accounts; without any, of the whole service. Only a test that shares its service with no other asks about the
 * whole service. The parts of an upload name no account, so they are no account's problem.
 */
export async function readBooks(
  { dynamoDb, s3, bucket, service: { tables } }: Operator,
  ...accountIds: string[]
): Promise<Books> {
  const isAsked = (accountId = '') => accountIds.length === 0 || accountIds.includes(accountId);
  const scan = async (input: ScanCommandInput) => {
    const rows: Row[] = [];
    const pages = paginateScan({ client: dynamoDb }, { ConsistentRead: true, ...input });
    for await (const { Items = [] } of pages) rows.push(...Items);
    return rows;
  };
  const accounts = (await scan({ TableName: tables.accounts })).filter(({ id }) => isAsked(id?.S));
  const rows = await scan({ TableName: tables.files });
  const listed = (await scan({ TableName: tables.files, IndexName: 'by_seq' })).filter(({ account_id }) =>
    isAsked(account_id?.S),
  );
  const objects = new Map<string, number>();
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: bucket })) {
    for (const { Key = '', Size = 0 } of Contents) objects.set(Key, Size);
  }
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  const allTickets = rows.flatMap(toTicket);
  const allFiles = rows.filter(({ account_id, state }) => state && !account_id?.S?.startsWith(TICKETS));
  const known = keysOf(allFiles, allTickets);
  const strays = [...objects.keys()].filter((key) => !known.has(key));
  const owners = await Promise.all(strays.map((key) => ownerOf({ s3, bucket }, key)));
  const tickets = allTickets.filter(({ accountId }) => isAsked(accountId));
  const files = allFiles.filter(({ account_id }) => isAsked(account_id?.S));
  const parts = accountIds.length === 0 ? Uploads : [];
  return {
    problems: [
      ...accounts.flatMap((account) => accountProblems(account, rows, tickets)),
      ...listingProblems(files, listed),
      ...missingObjects(files, objects),
      ...strays.filter((_, index) => isAsked(owners[index])).map((key) => `no row refers to the object ${key}`),
      ...parts
        .filter(({ Key = '' }) => !tickets.some(({ keys }) => keys.includes(Key)))
        .map(({ Key }) => `no row refers to the unfinished multipart upload of ${Key}`),
    ],
    unfinished: [
      ...files.filter(({ work_due_at }) => work_due_at).map(({ state }) => `${state?.S} file`),
      ...tickets.map(({ state }) => `${state} ticket`),
    ],
    accountOf(accountId) {
      const account = accounts.find(({ id }) => id?.S === accountId);
      const ready = files.filter(({ account_id, state }) => account_id?.S === accountId && state?.S === 'ready');
      const names = ready.map(({ name }) => name?.S ?? '').sort();
      return { usedBytes: number(account?.storage_used_bytes), fileCount: number(account?.file_count), names };
    },
  };
}

const number = (value: AttributeValue | undefined) => Number(value?.N ?? 0);

/**
 * Compares an account's usage, file count and listing counters with its rows. Checks that no seq is missing or used twice, and that a file
 * with a higher seq is not older. Also checks the seals.
 */
function accountProblems(account: Row, rows: readonly Row[], tickets: readonly Ticket[]): string[] {
  const own = rows.filter(({ account_id }) => account_id?.S === account.id?.S);
  const ready = own.filter(({ state }) => state?.S === 'ready');
  const reserved = tickets.filter(({ accountId, state }) => accountId === account.id?.S && state === 'pending');
  const sizes = [...ready.map(({ size_bytes }) => number(size_bytes)), ...reserved.map(({ bytes }) => bytes)];
  const sum = sizes.reduce((total, bytes) => total + bytes, 0);
  const leaves = own.filter(({ id, removed }) => id?.S?.startsWith('#leaf#') && removed);
  const leafBits = leaves.map(({ id, removed }): [string, string] => [
    String(Number(id?.S?.replace(/^#leaf#/, ''))),
    BigInt(removed?.N ?? 0).toString(2),
  ]);
  const groupCounts = Object.entries(account.removed?.M ?? {}).map(([group, n]): [string, number] => [
    group,
    number(n),
  ]);
  const removed = removedSeqs(number(account.next_seq), ready);
  return [
    ...differences('storage_used_bytes', number(account.storage_used_bytes), sum),
    ...differences('file_count', number(account.file_count), ready.length),
    ...differences('removed', Object.fromEntries(groupCounts), countBy(removed, GROUP_SEQS)),
    ...differences('leaves', Object.fromEntries(leafBits), bitsBy(removed, LEAF_SEQS)),
    ...differences('seqs', new Set(ready.map(({ seq }) => seq?.N)).size, ready.length),
    ...differences('files past next_seq', 0, ready.filter(({ seq }) => number(seq) >= number(account.next_seq)).length),
    ...differences('order', inOrderOfTime(ready), inOrderOfSeq(ready)),
    ...sealProblems(own, ready, number(account.next_seq)),
  ].map((problem) => `account ${account.id?.S}: ${problem}`);
}

/**
 * Checks that every full leaf with files has a seal of their names, in lower case. While the sweeper has yet to write a seal, it
 * may be missing, or have the names of deleted files as well.
 */
function sealProblems(own: readonly Row[], ready: readonly Row[], nextSeq: number): string[] {
  const row = (id: string) => own.find((one) => one.id?.S === id);
  const nameAt = new Map(ready.map(({ seq, name }) => [number(seq), name?.S ?? '']));
  const leaves = Array.from({ length: Math.floor(nextSeq / LEAF_SEQS) }, (_, leaf) => leaf);
  const seals = own.filter(({ id }) => id?.S?.startsWith('#names#')).length;
  const sealed = leaves.filter((leaf) => row(`#names#${String(leaf).padStart(11, '0')}`));
  const problems = leaves.flatMap((leaf) => {
    const digits = String(leaf).padStart(11, '0');
    const isUnfinished = row(`#leaf#${digits}`)?.work_due_at !== undefined;
    const names = Array.from({ length: LEAF_SEQS }, (_, slot) => nameAt.get(leaf * LEAF_SEQS + slot) ?? '');
    const folded = row(`#names#${digits}`)?.folded?.B;
    const sealedNames = folded && inflateRawSync(folded).toString('utf8').split('/');
    if (!sealedNames) return isUnfinished || names.every((name) => name === '') ? [] : `leaf ${leaf} has no seal`;
    const isRight = (name: string, slot: number) =>
      sealedNames[slot] === name.toLowerCase() || !isAscii(name) || (name === '' && isUnfinished);
    return sealedNames.length === LEAF_SEQS && names.every(isRight) ? [] : `the seal of leaf ${leaf} has other names`;
  });
  return [...problems, ...differences('seals', seals, sealed.length)];
}

/** Names with other characters are left to the tests of the folding. */
const isAscii = (name: string) => [...name].every((character) => character < '\x7f');

/** The seqs that were given out and belong to no ready file. */
function removedSeqs(nextSeq: number, ready: readonly Row[]): number[] {
  const taken = new Set(ready.map(({ seq }) => number(seq)));
  return Array.from({ length: nextSeq }, (_, seq) => seq).filter((seq) => !taken.has(seq));
}

function countBy(seqs: readonly number[], size: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const seq of seqs) counts[Math.floor(seq / size)] = (counts[Math.floor(seq / size)] ?? 0) + 1;
  return counts;
}

/** Bitmaps in binary digits. */
function bitsBy(seqs: readonly number[], size: number): Record<string, string> {
  const bits: Record<string, bigint> = {};
  for (const seq of seqs)
    bits[Math.floor(seq / size)] = (bits[Math.floor(seq / size)] ?? 0n) + 2n ** BigInt(seq % size);
  return Object.fromEntries(Object.entries(bits).map(([index, bitmap]) => [index, bitmap.toString(2)]));
}

const inOrderOfSeq = (ready: readonly Row[]) =>
  ready.toSorted((a, b) => number(a.seq) - number(b.seq)).map(({ created_at }) => created_at?.N);
const inOrderOfTime = (ready: readonly Row[]) =>
  ready.toSorted((a, b) => number(a.created_at) - number(b.created_at)).map(({ created_at }) => created_at?.N);

function differences(what: string, recorded: unknown, computed: unknown): string[] {
  if (isDeepStrictEqual(recorded, computed)) return [];
  return [`${what} is ${JSON.stringify(recorded)}, but the rows add up to ${JSON.stringify(computed)}`];
}

/** Checks that the index `by_seq` holds exactly the ready files. */
function listingProblems(files: readonly Row[], listed: readonly Row[]): string[] {
  const ids = (rows: readonly Row[]) => rows.map(({ id }) => id?.S ?? '').sort();
  return differences('by_seq', ids(listed), ids(files.filter(({ state }) => state?.S === 'ready')));
}

/** Checks that every ready file has its object. */
function missingObjects(files: readonly Row[], objects: ReadonlyMap<string, number>): string[] {
  return files
    .filter(({ state }) => state?.S === 'ready')
    .filter(({ object_key, size_bytes }) => objects.get(object_key?.S ?? '') !== number(size_bytes))
    .map((file) => `${file.name?.S}: its object has ${objects.get(file.object_key?.S ?? '')} bytes`);
}

/** The keys to which a file or a ticket refers. */
const keysOf = (files: readonly Row[], tickets: readonly Ticket[]) =>
  new Set([...files.flatMap(({ object_key }) => object_key?.S ?? []), ...tickets.flatMap(({ keys }) => keys)]);

/** The account of an object; undefined when it names none, or is gone since it was listed. */
async function ownerOf({ s3, bucket: Bucket }: Pick<Operator, 's3' | 'bucket'>, Key: string) {
  const [, arrivedFor] = /^incoming\/([^/]+)\//.exec(Key) ?? [];
  if (arrivedFor !== undefined) return arrivedFor;
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key })).catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });
  return head?.Metadata?.file?.split('/')[0];
}

const TICKETS = '#tickets#';

interface Ticket {
  readonly accountId: string;
  readonly state: string;
  readonly bytes: number;
  /** The keys under which the bytes of the ticket may be: what the client sent, and the copies of attempts to complete it. */
  readonly keys: readonly string[];
}

/** The ticket of a row; nothing for the row of another kind. */
function toTicket({ account_id, id, state, size_bytes, attempt_keys }: Row): Ticket[] {
  if (!account_id?.S?.startsWith(TICKETS)) return [];
  const [, accountId = '', ticketId] = id?.S?.split('#') ?? [];
  const keys = [`incoming/${accountId}/${ticketId}`, ...(attempt_keys?.SS ?? [])];
  return [{ accountId, state: state?.S ?? '', bytes: number(size_bytes), keys }];
}
