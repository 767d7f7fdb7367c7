import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countRounds } from '../../local-aws/aws-front/meter.ts';
import type { Fault } from '../../local-aws/service.ts';
import { auditAccount } from '../../shared/administration/audit-account.ts';
import { TABLES } from '../../shared/aws/tables.ts';
import { eachOf } from '../../shared/each-of.ts';
import type { ListedFile } from '../../shared/files/file.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { dynamoDbClient } from '../support/tables.ts';
import { withFault } from '../support/with-fault.ts';
import { MADE_UP_BYTES, makeUpFiles, takeAwayFiles } from './made-up-files.ts';

const COUNT = 20_000;
/** The newest files, whose counters are left at zero, and every fifth of the others: a third. */
const isInDeletedThird = ({ seq }: ListedFile) => seq >= 16_384 || seq % 5 === 0;

interface ListedAccount extends TestAccount {
  /** Newest first. */
  files: readonly ListedFile[];
}

type Page = { items: { id: string; created_at: string }[]; total: number };

const engine = dynamoDbClient();
let service: TestService;

beforeAll(async () => {
  // Under a higher limit the admissions share slots, and one that begins a slot takes a round more.
  service = await startTestService({ RATE_LIMIT_LISTS_PER_MINUTE: '500' });
});
afterAll(async () => {
  await service.close();
  engine.destroy();
});

async function accountWith(count: number): Promise<ListedAccount> {
  const account = await service.newAccount();
  return { ...account, files: await makeUpFiles(engine, service.tables, { accountId: account.id, count }) };
}

const list = ({ bySession }: TestAccount, query: string) => bySession.request<Page>('GET', `/files?${query}`);
const idsOf = (files: readonly { readonly id: string }[]) => files.map(({ id }) => id);

/** A page, and what it cost in DynamoDB from authentication to answer. */
async function costOf(account: TestAccount, query: string) {
  const queries = new Set<string>();
  const slow: Fault = {
    match: { operation: 'Query', predicate: ({ input }) => Boolean(queries.add(JSON.stringify(input))) },
    // Reads that are sent together then overlap for certain, and count as one round.
    effect: { delayMs: 100 },
  };
  const mark = service.front.meter.mark();
  const { body } = await withFault(service, slow, () => list(account, query));
  const { calls, readUnits } = service.front.meter.since(mark);
  return { ids: idsOf(body.items), total: body.total, readUnits, rounds: countRounds(calls), queries: queries.size };
}

describe('a listing of 20,000 files', () => {
  let small: ListedAccount;
  let large: ListedAccount;

  beforeAll(async () => {
    small = await accountWith(100);
    large = await accountWith(COUNT);
    // An account's first request makes its row of the limiter, which is a round more.
    for (const account of [small, large]) await list(account, 'page=1');
  });

  async function expectSameCost(limit: number): Promise<void> {
    const { files } = large;
    const pages = Math.ceil(files.length / limit);
    const least = await costOf(small, `limit=${limit}&page=1`);
    for (const page of [1, Math.ceil(pages / 2), pages]) {
      const cost = await costOf(large, `limit=${limit}&page=${page}`);
      expect(cost.ids).toEqual(idsOf(files.slice((page - 1) * limit, page * limit)));
      expect(cost.total).toBe(files.length);
      expect(cost.rounds).toBe(least.rounds);
      expect(cost.readUnits).toBeLessThanOrEqual(2 * least.readUnits);
    }
  }

  test.for([50, 100])('costs the same on its first, middle and last page of %i as page 1 of 100 files', expectSameCost);

  test('is searched by a bounded number of reads, with the right total', async () => {
    const rare = large.files.filter(({ name }) => name.includes('-13'));
    const few = await costOf(large, 'search=-13&limit=100&page=2');
    expect([few.total, few.ids]).toEqual([rare.length, idsOf(rare.slice(100, 200))]);
    // Every group at once, of which a full one is two reads of a megabyte.
    expect(few.queries).toBeLessThanOrEqual(2 * Math.ceil(COUNT / 8_192));

    const all = await costOf(large, 'search=PHOTO&limit=100&page=123');
    expect([all.total, all.ids]).toEqual([COUNT, idsOf(large.files.slice(12_200, 12_300))]);
    // Matches are not kept in memory when they are more than a page: the page's are read again, from two reads at most.
    expect(all.queries).toBeLessThanOrEqual(few.queries + 2);
  });

  describe('of which a third is deleted', () => {
    beforeAll(async () => {
      const { files } = large;
      large.files = await takeAwayFiles(engine, service.tables, { files, isTaken: isInDeletedThird });
    });

    test('is of books that balance', async () => {
      expect(large.files.length / COUNT).toBeCloseTo(2 / 3, 1);
      await expectBalancedBooks(large.id);
    });

    test.for([50, 100])(
      'costs the same on its first, middle and last page of %i as page 1 of 100 files',
      expectSameCost,
    );

    test('gives every file once, newest first, page by page', async () => {
      const ids: string[] = [];
      for (let page = 1; page <= Math.ceil(large.files.length / 100); page++) {
        ids.push(...idsOf((await list(large, `limit=100&page=${page}`)).body.items));
      }
      expect(ids).toEqual(idsOf(large.files));
    });
  });
});

describe('while files come and go', () => {
  test('every total is one that was true at some moment of its request, and at rest it is exact', async () => {
    const account = await accountWith(200);
    const begun = { uploads: 0, deletions: 0 };
    const done = { uploads: 0, deletions: 0 };
    const upload = async () => {
      begun.uploads += 1;
      expect((await account.byKey.upload('photo.jpeg', 'x'.repeat(MADE_UP_BYTES))).status).toBe(201);
      done.uploads += 1;
    };
    const remove = async ({ id }: ListedFile) => {
      begun.deletions += 1;
      expect((await account.byKey.request('DELETE', `/files/${id}`)).status).toBe(200);
      done.deletions += 1;
    };
    const doomed = account.files.filter(({ seq }) => seq % 8 === 0);
    let isOver = false;
    const writers = Promise.all([eachOf(doomed, 3, upload), eachOf(doomed, 3, remove)]).finally(() => {
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
    expect(done).toEqual({ uploads: doomed.length, deletions: doomed.length });
    for (const query of queries) expect((await list(account, query)).body.total).toBe(200);
    await expectBalancedBooks(account.id);
  });
});

/** As the reconciliation sees it; of the objects, which made-up files lack, only the size is taken for granted. */
async function expectBalancedBooks(accountId: string): Promise<void> {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: inject('dynamoDbEndpoint'),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    [TABLES.accounts.variable]: service.tables.accounts,
    [TABLES.files.variable]: service.tables.files,
  });
  // The stores read their environment when they load.
  const { auditStore: audit } = await import('../../shared/aws/audit-store.ts');
  const { differences } = await auditAccount({ audit, objects: { size: async () => MADE_UP_BYTES } }, accountId);
  expect(differences).toEqual([]);
}
