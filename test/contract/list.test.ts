import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultSubject } from '../../local-aws/service.ts';
import { skipSeqs } from '../support/generated-files.ts';
import { operatorOf } from '../support/operator.ts';
import { borrowTestService, type TestAccount, type TestService } from '../support/service.ts';

let service: TestService;
let account: TestAccount;
const NAMES = ['alpha.txt', 'Straße.TXT', 'ΟΔΟΣ.md', '100%_done.txt', 'beta.txt'];

beforeAll(async () => {
  service = await borrowTestService();
  account = await service.newAccount();
  for (const name of NAMES) await account.byKey.upload(name, name);
});
afterAll(() => service.close());

type Page = { items: { name: string; created_at: string }[]; page: number; limit: number; total: number };
const list = (query = '') => account.byKey.request<Page>('GET', `/files${query}`);
const names = ({ body }: { body: Page }) => body.items.map(({ name }) => name);

describe('contract: list order', () => {
  test('the list shows the newest file first', async () => {
    const answer = await list();
    expect(answer.body).toMatchObject({ page: 1, limit: 50, total: NAMES.length });
    expect(names(answer)).toEqual([...NAMES].reverse());
    const times = answer.body.items.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('the newest file is the one that was ready last, whenever its upload began', async () => {
    const { byKey } = await service.newAccount();
    const reached = Promise.withResolvers<void>();
    let slowKey: string | undefined;
    const predicate = ({ key }: FaultSubject) => {
      slowKey ??= key;
      reached.resolve();
      return key === slowKey;
    };
    const match = { service: 's3', operation: 'PutObject', predicate } as const;
    const released = Promise.withResolvers<void>();
    service.front.faults.add({ match, effect: { answeredAfter: released.promise } });
    const slow = byKey.upload('slow', 'slow');
    await reached.promise;
    const quick = await byKey.upload('quick', 'quick');
    released.resolve();
    const lastFirst = [(await slow).body, quick.body];
    expect((await byKey.request<Page>('GET', '/files')).body.items).toEqual(lastFirst);
  });

  test('listing works past the 64,000,000th upload of an account', async () => {
    const { id, byKey } = await service.newAccount();
    const operator = operatorOf(service);
    await skipSeqs(operator.dynamoDb, service.tables, id, 63_999_997);
    operator.close();
    const files: Record<string, unknown>[] = [];
    for (const name of ['1', '2', '3', '4', '5']) files.unshift((await byKey.upload(name, name)).body);
    const itemsOf = async (page: number) =>
      (await byKey.request<Page>('GET', `/files?limit=2&page=${page}`)).body.items;
    expect([await itemsOf(1), await itemsOf(2), await itemsOf(3)].flat()).toEqual(files);
    // Deletions on both sides of the boundary.
    const [newest, , middle, ...oldest] = files;
    for (const file of [newest, ...oldest]) await byKey.request('DELETE', `/files/${file?.id}`);
    expect((await byKey.request<Page>('GET', '/files?limit=1&page=2')).body).toMatchObject({
      items: [middle],
      total: 2,
    });
  });

  test('pages contain each file once, and a page past the end is empty', async () => {
    const pages = [await list('?limit=2'), await list('?limit=2&page=2'), await list('?limit=2&page=3')];
    expect(pages.flatMap(names)).toEqual([...NAMES].reverse());
    const past = await list('?limit=2&page=4');
    expect(past.body).toEqual({ items: [], page: 4, limit: 2, total: NAMES.length });
    expect((await list('?page=2147483647&limit=100')).status).toBe(200);
  });

  test.for([
    ['?limit=0', 400],
    ['?limit=1', 200],
    ['?limit=100', 200],
    ['?limit=101', 400],
    ['?page=0', 400],
    ['?page=-1', 400],
    ['?page=1.5', 400],
    ['?page=', 400],
    ['?page=1e3', 400],
    ['?page=2147483648', 400],
    ['?page=99999999999999999999', 400],
    ['?page=1&page=2', 400],
    ['?page=%31', 200],
    ['?unknown=1', 200],
  ] as const)('a list with %s is %i', async ([query, status]) => {
    expect((await list(query)).status).toBe(status);
  });

  test.for([
    ['ALPHA', ['alpha.txt']],
    ['.txt', ['beta.txt', '100%_done.txt', 'Straße.TXT', 'alpha.txt']],
    ['STRASSE', ['Straße.TXT']],
    ['οδος', ['ΟΔΟΣ.md']],
    ['%_', ['100%_done.txt']],
    ['.*', []],
    ['nothing', []],
  ] as const)('a search for %s finds exactly the names that contain it', async ([search, expected]) => {
    const answer = await list(`?search=${encodeURIComponent(search)}`);
    expect(names(answer)).toEqual(expected);
    expect(answer.body.total).toBe(expected.length);
  });

  test('a semicolon in the query does not end the search', async () => {
    const { byKey } = await service.newAccount();
    for (const name of ['a;b.txt', 'a.txt']) await byKey.upload(name, name, { type: 'text/plain' });
    for (const search of ['a;b.txt', 'a%3Bb.txt', ';', 'a;b&limit=1;2']) {
      const answer = await byKey.request<Page>('GET', `/files?search=${search}`);
      // With the semicolon in it, the value of `limit` is "1;2", which is not a number.
      expect([search, answer.status]).toEqual([search, search.includes('&') ? 400 : 200]);
      if (answer.status === 200) expect(names(answer)).toEqual(['a;b.txt']);
    }
  });

  test("another account's files are not listed", async () => {
    const stranger = await service.newAccount();
    expect((await stranger.byKey.request<Page>('GET', '/files')).body).toMatchObject({ items: [], total: 0 });
    expect((await stranger.byKey.request<Page>('GET', '/files?search=alpha')).body).toMatchObject({
      items: [],
      total: 0,
    });
  });
});
