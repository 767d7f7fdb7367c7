import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { FaultSubject } from '../../local-aws/aws-front/faults.ts';
import { countRounds } from '../../local-aws/aws-front/meter.ts';
import type { Fault } from '../../local-aws/service.ts';
import { auditAccount } from '../../shared/administration/audit-account.ts';
import { eachOf } from '../../shared/each-of.ts';
import type { ListedFile } from '../../shared/files/file.ts';
import { listFiles } from '../../shared/files/list-files.ts';
import { TABLES } from '../../shared/tables.ts';
import { GENERATED_FILE_BYTES, generateFiles, removeFiles } from '../support/generated-files.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { dynamoDbClient } from '../support/tables.ts';
import { timesAsLong } from '../support/times-as-long.ts';
import { withFault } from '../support/with-fault.ts';

const COUNT = 20_000;
const FEW = 300;
/** How many times as long as a search in memory a search takes at most. */
const TIMES_AS_LONG = 20;
/** A third of the files: all of the newest group, and every fifth of the others. */
const isInDeletedThird = ({ seq }: ListedFile) => seq >= 16_384 || seq % 5 === 0;

interface ListedAccount extends TestAccount {
  /** The files of the account, newest first. */
  files: readonly ListedFile[];
}

type Page = { items: { id: string; created_at: string }[]; total: number };

const engine = dynamoDbClient();
let service: TestService;

beforeAll(async () => {
  // A test reads more pages in a minute than the default limit allows.
  service = await startTestService({ RATE_LIMIT_LISTS_PER_MINUTE: '100000' });
});
afterAll(async () => {
  await service.close();
  engine.destroy();
});

async function accountWith(count: number): Promise<ListedAccount> {
  const account = await service.newAccount();
  return { ...account, files: await generateFiles(engine, service.tables, { accountId: account.id, count }) };
}

const list = ({ bySession }: TestAccount, query: string) => bySession.request<Page>('GET', `/files?${query}`);
const idsOf = (files: readonly { readonly id: string }[]) => files.map(({ id }) => id);

/**
 * Gets a page of the list. @returns it, and its cost in DynamoDB, authentication included, but not the rate limiter: its requests share slots
 * here, so it makes one call or two, as the time falls.
 */
async function costOf(account: TestAccount, query: string) {
  const queries = new Set<string>();
  const record = ({ operation, input }: FaultSubject) => {
    if (operation === 'Query') queries.add(JSON.stringify(input));
    return true;
  };
  // With this delay, calls that are sent together overlap reliably, and count as one round trip.
  const slow: Fault = { match: { predicate: record }, effect: { delayMs: 100 } };
  const mark = service.front.meter.mark();
  const { body } = await withFault(service, slow, () => list(account, query));
  const reading = service.front.meter.since(mark);
  const calls = reading.calls.filter(({ tables }) => !tables.includes(service.tables.rateLimits));
  const readUnits = calls.reduce((sum, call) => sum + call.readUnits, 0);
  return { ids: idsOf(body.items), total: body.total, readUnits, rounds: countRounds(calls), queries: queries.size };
}

/** Calls that were sent together count as two rounds when a pause of this process has parted them. */
async function leastCostOf(account: TestAccount, query: string) {
  const [first, second] = [await costOf(account, query), await costOf(account, query)];
  return first.rounds < second.rounds ? first : second;
}

describe('a listing of 20,000 files', () => {
  let small: ListedAccount;
  let large: ListedAccount;

  beforeAll(async () => {
    small = await accountWith(FEW);
    large = await accountWith(COUNT);
    // A session's first request also notes that the session is used.
    for (const account of [small, large]) await list(account, 'page=1');
  });

  async function expectSameCost(limit: number): Promise<void> {
    const { files } = large;
    const pages = Math.ceil(files.length / limit);
    for (const page of [1, Math.ceil(pages / 2), pages]) {
      const least = await leastCostOf(small, `limit=${limit}&page=${Math.min(page, 2)}`);
      const cost = await leastCostOf(large, `limit=${limit}&page=${page}`);
      expect(cost.ids).toEqual(idsOf(files.slice((page - 1) * limit, page * limit)));
      expect(cost.total).toBe(files.length);
      expect(cost.rounds).toBe(least.rounds);
      expect(cost.readUnits).toBeLessThanOrEqual(2 * least.readUnits);
    }
  }

  test.for([50, 100])(
    'takes as many rounds as a list of 300 files, and at most twice its read units, for the first, middle and last page of %i',
    expectSameCost,
  );

  test('needs a bounded number of reads for a search, and gives its exact total', async () => {
    const rare = large.files.filter(({ name }) => name.includes('-13'));
    const few = await costOf(large, 'search=-13&limit=100&page=2');
    expect([few.total, few.ids]).toEqual([rare.length, idsOf(rare.slice(100, 200))]);
    // One range of seals, the bits of its deleted files, the newest leaf, and the files of the page.
    expect(few.queries).toBeLessThanOrEqual(3 + 100);

    const all = await costOf(large, 'search=PHOTO&limit=100&page=123');
    expect([all.total, all.ids]).toEqual([COUNT, idsOf(large.files.slice(12_200, 12_300))]);
    // Files that are next to each other are read together.
    expect(all.queries).toBe(4);
  });

  describe('after a third of them were deleted', () => {
    beforeAll(async () => {
      const { files } = large;
      large.files = await removeFiles(engine, service.tables, { files, isRemoved: isInDeletedThird });
    });

    test('has books that balance', async () => {
      expect(large.files.length / COUNT).toBeCloseTo(2 / 3, 1);
      await expectBalancedBooks(large.id);
    });

    test.for([50, 100])(
      'takes as many rounds as a list of 300 files, and at most twice its read units, for the first, middle and last page of %i',
      expectSameCost,
    );

    test('shows every file once, newest first, page by page', async () => {
      const ids: string[] = [];
      for (let page = 1; page <= Math.ceil(large.files.length / 100); page++) {
        ids.push(...idsOf((await list(large, `limit=100&page=${page}`)).body.items));
      }
      expect(ids).toEqual(idsOf(large.files));
    });
  });
});

describe.for([100_000, 1_000_000])('a search among %i files', (count) => {
  /** A name as long as names usually are. Every 1,000th file is a rare one. */
  const nameOf = (seq: number) => `${seq % 1_000 === 7 ? 'Rare' : 'Holiday'} photo number ${seq}.jpeg`;
  const isRare = ({ name }: { readonly name: string }) => name.startsWith('Rare');
  let account: ListedAccount;

  beforeAll(async () => {
    account = await service.newAccount().then(async (person) => {
      // To write the rows of 1,000,000 files would take half an hour. A search for the rare files reads only their rows.
      const hasRow = (file: ListedFile) => count <= 100_000 || isRare(file);
      const files = await generateFiles(engine, service.tables, { accountId: person.id, count, nameOf, hasRow });
      return { ...person, files };
    });
    await list(account, 'search=rare');
  }, 20 * 60_000);

  test.for(['rare', 'no such name'])('a search for "%s" takes few read units', async (part) => {
    const found = part === 'rare' ? account.files.filter(isRare) : [];
    const mark = service.front.meter.mark();
    const { body } = await list(account, `search=${encodeURIComponent(part)}`);
    const { readUnits } = service.front.meter.since(mark);
    expect([body.total, idsOf(body.items)]).toEqual([found.length, idsOf(found.slice(0, 50))]);
    expect(readUnits).toBeLessThanOrEqual((500 * count) / 100_000);
  });

  test.for(['rare', 'PHOTO'])(
    'a search for "%s" takes the processor a few times as long as a search in memory',
    async (part) => {
      const stores = await loadStores();
      const inMemory = () => account.files.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase())).length;
      // This page is beyond the last, so the search reads no files for it.
      const ofService = async () =>
        (await listFiles(stores, { accountId: account.id, page: count, limit: 100, search: part })).total;
      expect([await ofService(), inMemory()]).toEqual(Array(2).fill(part === 'PHOTO' ? count : count / 1_000));
      const times = await timesAsLong(ofService, inMemory);
      console.log(`a search for "${part}" among ${count} files takes ${times.toFixed(1)} times as long as in memory`);
      expect(times).toBeLessThan(TIMES_AS_LONG);
    },
  );
});

describe('while files are uploaded and deleted', () => {
  test('every total was true at some moment during its request, and the total is exact afterwards', async () => {
    const account = await accountWith(200);
    const begun = { uploads: 0, deletions: 0 };
    const done = { uploads: 0, deletions: 0 };
    const upload = async () => {
      begun.uploads += 1;
      expect((await account.byKey.upload('photo.jpeg', 'x'.repeat(GENERATED_FILE_BYTES))).status).toBe(201);
      done.uploads += 1;
    };
    const remove = async ({ id }: ListedFile) => {
      begun.deletions += 1;
      expect((await account.byKey.request('DELETE', `/files/${id}`)).status).toBe(200);
      done.deletions += 1;
    };
    const toDelete = account.files.filter(({ seq }) => seq % 8 === 0);
    let isOver = false;
    // Twenty clients: ten upload while ten delete.
    const writers = Promise.all([eachOf(toDelete, 10, upload), eachOf(toDelete, 10, remove)]).finally(() => {
      isOver = true;
    });

    const queries = ['limit=50&page=1', 'limit=60&page=2', 'limit=100&page=2', 'page=999', 'search=photo'];
    for (let turn = 0; !isOver; turn++) {
      const certain = { ...done };
      const { body } = await list(account, queries[turn % queries.length] ?? '');
      expect(body.total).toBeGreaterThanOrEqual(200 + certain.uploads - begun.deletions);
      expect(body.total).toBeLessThanOrEqual(200 + begun.uploads - certain.deletions);
      expect(new Set(idsOf(body.items)).size).toBe(body.items.length);
      const times = body.items.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort().reverse());
    }
    await writers;
    expect(done).toEqual({ uploads: toDelete.length, deletions: toDelete.length });
    for (const query of queries) expect((await list(account, query)).body.total).toBe(200);
    await expectBalancedBooks(account.id);
  });
});

/** The stores, on the engine without the local AWS in front of it. */
async function loadStores() {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: inject('dynamoDbEndpoint'),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    [TABLES.accounts.variable]: service.tables.accounts,
    [TABLES.files.variable]: service.tables.files,
  });
  // The stores read their environment when they load.
  const [{ accountStore: accounts }, { auditStore: audit }, { listingStore: listing }, { sealStore: seals }] =
    await Promise.all([
      import('../../shared/aws/account-store.ts'),
      import('../../shared/aws/audit-store.ts'),
      import('../../shared/aws/listing-store.ts'),
      import('../../shared/aws/seal-store.ts'),
    ]);
  return { accounts, audit, listing, seals };
}

/** Audits the account as `admin reconcile` does. Generated files have no objects, so their size is a constant. */
async function expectBalancedBooks(accountId: string): Promise<void> {
  const { audit } = await loadStores();
  const { differences } = await auditAccount({ audit, objects: { size: async () => GENERATED_FILE_BYTES } }, accountId);
  expect(differences).toEqual([]);
}
