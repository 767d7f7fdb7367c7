import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';
import { LANES, type Lane } from '../../shared/metrics.ts';
import { readBooks } from '../support/books.ts';
import type { Answer } from '../support/client.ts';
import { askForTicket, complete, put, retryWhileBusy, uploadThrough } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { startTestService, type TestAccount } from '../support/service.ts';
import { IS_THOROUGH } from '../support/thorough.ts';

/** Simultaneous requests for the last bytes of an account (docs/architecture.md: I1, I2). */

const SIZE = 1_000;
/** The number of files that fit. */
const ROOM = IS_THOROUGH ? 20 : 10;
const RACERS = IS_THOROUGH ? 50 : 24;
const CONTENT = 'x'.repeat(SIZE);

const service = await startTestService({
  STORAGE_LIMIT_BYTES: String(ROOM * SIZE),
  RATE_LIMIT_UPLOADS_PER_MINUTE: '100000',
  RATE_LIMIT_REQUESTS_PER_MINUTE: '100000',
});
const operator = operatorOf(service);
afterAll(async () => {
  operator.close();
  await service.close();
});

/** Starts `racers` requests at once, each with a file name of its own. */
const race = <Result>(racers: number, start: (name: string, index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: racers }, (_, index) => start(`${String(index).padStart(2, '0')}.bin`, index)));

/** Sets one account's storage limit, as an operator can. */
async function setLimit({ id }: TestAccount, bytes: number): Promise<void> {
  await operator.dynamoDb.send(
    new UpdateItemCommand({
      TableName: service.tables.accounts,
      Key: { id: { S: id } },
      UpdateExpression: 'SET storage_limit_bytes = :bytes',
      ExpressionAttributeValues: { ':bytes': { N: String(bytes) } },
    }),
  );
}

/** Counts equal answers, such as `403 storage_limit_exceeded`. */
function tally(answers: readonly { readonly status: number; readonly body: unknown }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const answer = `${status} ${(body as { error?: string }).error ?? ''}`.trim();
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

const namesOf = (answers: readonly Answer[]) =>
  answers.flatMap(({ status, body }) => (status === 201 ? String(body.name) : [])).sort();

/** Expects exactly these files in the API's answers, in the tables and in the bucket, and no unfinished work. */
async function expectExact({ id, bySession }: TestAccount, names: string[]): Promise<void> {
  const usage = { storage_used_bytes: names.length * SIZE, file_count: names.length };
  expect((await bySession.request('GET', '/auth/me')).body).toMatchObject(usage);
  expect((await bySession.request('GET', '/files')).body).toMatchObject({ total: names.length });
  const { problems, unfinished, accountOf } = await readBooks(operator, id);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
  expect(accountOf(id)).toEqual({ usedBytes: names.length * SIZE, fileCount: names.length, names });
}

/** Lets the sweeper remove the copies that lost the race between a client's completion and the bucket's event. */
async function sweepLeftovers(): Promise<void> {
  await service.invoker.idle();
  await operator.expireDeadlines();
  await operator.sweep();
}

const remove = ({ byKey }: TestAccount, id: unknown) => retryWhileBusy(() => byKey.request('DELETE', `/files/${id}`));

/** Makes every third transaction conflict, as can happen at AWS and never does in the engines. */
async function withConflicts<Result>(run: () => Promise<Result>): Promise<Result> {
  const fault = service.front.faults.add({
    match: { service: 'dynamodb', operation: 'TransactWriteItems' },
    effect: 'conflict',
    every: 3,
  });
  const result = await run().finally(fault.remove);
  expect(fault.hits).toBeGreaterThan(0);
  // The service retried every conflict: none was logged as the cause of an error. An attempt that got no answer may have been applied.
  const causes = service.logs.filter((line) => line.includes('TransactionCanceledException'));
  expect(causes.filter((line) => !line.includes('an earlier request may still be applied'))).toEqual([]);
  return result;
}

describe.for([
  ['without conflicts', <Result>(run: () => Promise<Result>) => run()],
  ['with a conflict in a third of the transactions', withConflicts],
] as const)('%s', ([, run]) => {
  test(`exactly the ${ROOM} uploads that fit succeed when ${RACERS} are sent at the same time`, async () => {
    const account = await service.newAccount();
    const answers = await run(() => race(RACERS, (name) => uploadThrough('inline', account, name, CONTENT)));
    expect(tally(answers)).toEqual({ 201: ROOM, '403 storage_limit_exceeded': RACERS - ROOM });
    await expectExact(account, namesOf(answers));
  });
});

describe('with a conflict in a third of the transactions', () => {
  test(`exactly the ${ROOM} tickets that fit are issued when ${RACERS} are requested at the same time`, async () => {
    const account = await service.newAccount();
    const answers = await withConflicts(() =>
      race(RACERS, (name) => retryWhileBusy(() => askForTicket(account.byKey, name, SIZE))),
    );
    expect(tally(answers)).toEqual({ 202: ROOM, '403 storage_limit_exceeded': RACERS - ROOM });
    const reserved = { storage_used_bytes: ROOM * SIZE, file_count: 0 };
    expect((await account.bySession.request('GET', '/auth/me')).body).toMatchObject(reserved);
    await sweepLeftovers();
    await expectExact(account, []);
  });

  test('exactly as many simultaneous uploads through all three lanes succeed as fit', async () => {
    const account = await service.newAccount();
    await setLimit(account, 10 * SIZE);
    const answers = await withConflicts(() =>
      race(18, (name, index) => uploadThrough(LANES[index % LANES.length] as Lane, account, name, CONTENT)),
    );
    expect(tally(answers)).toEqual({ 201: 10, '403 storage_limit_exceeded': 8 });
    await sweepLeftovers();
    await expectExact(account, namesOf(answers));
  });

  test('uploads use the bytes that simultaneous deletions free, and never more', async () => {
    const account = await service.newAccount();
    await setLimit(account, 8 * SIZE);
    const old = await race(8, (name) => uploadThrough('inline', account, `old ${name}`, CONTENT));
    const [deletions, uploads] = await withConflicts(() =>
      Promise.all([
        race(4, (_, index) => remove(account, old[index]?.body.id)),
        race(8, (name) => uploadThrough('inline', account, `new ${name}`, CONTENT)),
      ]),
    );
    expect(tally(deletions)).toEqual({ 200: 4 });
    const taken = namesOf(uploads);
    const refused = uploads.filter(({ body }) => body.error === 'storage_limit_exceeded');
    expect(taken.length + refused.length).toBe(8);
    expect(taken.length).toBeLessThanOrEqual(4);
    const free = 4 - taken.length;
    const later = await race(free + 1, (name) => uploadThrough('inline', account, `later ${name}`, CONTENT));
    expect(namesOf(later)).toHaveLength(free);
    await expectExact(account, [...taken, ...namesOf(old.slice(4)), ...namesOf(later)].sort());
  });

  test('a direct upload that is completed and deleted at the same time is deleted, with its reservation', async () => {
    const account = await service.newAccount();
    const outcomes = await withConflicts(() =>
      race(4, async (name) => {
        const { body: ticket } = await retryWhileBusy(() => askForTicket(account.byKey, name, SIZE));
        expect(await put(ticket, CONTENT)).toBe(200);
        // Cancelled, it is no file; complete, it is a file, which is deleted.
        const cancelThenDelete = async () => [
          (await retryWhileBusy(() => account.byKey.request('DELETE', `/uploads/${ticket.id}`))).status,
          (await retryWhileBusy(() => account.byKey.request('DELETE', `/files/${ticket.id}`))).status,
        ];
        return Promise.all([cancelThenDelete(), retryWhileBusy(() => complete(account.byKey, ticket))]);
      }),
    );
    for (const [ends, { status }] of outcomes) {
      expect(ends.toSorted()).toEqual([200, 404]);
      expect([201, 404]).toContain(status);
    }
    await sweepLeftovers();
    await expectExact(account, []);
  });
});

test('one of several simultaneous deletions of a file succeeds, and frees its bytes once', async () => {
  const account = await service.newAccount();
  const files = await race(2, (name) => uploadThrough('inline', account, name, CONTENT));
  const deletions = await race(8, () => account.byKey.request('DELETE', `/files/${files[0]?.body.id}`));
  expect(tally(deletions)).toEqual({ 200: 1, '404 not_found': 7 });
  await sweepLeftovers();
  await expectExact(account, ['01.bin']);
});
