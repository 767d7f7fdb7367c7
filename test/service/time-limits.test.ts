import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBooks } from '../support/books.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { askForTicket, complete, put } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';
import { walkEverything } from './fast-forward.ts';

/** Requests end in time, and their answer stays true, however late AWS responds. */

let service: TestService;
let operator: Operator;
/** A service for the tests of functions that have little time. */
let hurried: TestService;
let hurriedOperator: Operator;

beforeAll(async () => {
  [service, hurried] = await Promise.all([startTestService(), startTestService()]);
  [operator, hurriedOperator] = [operatorOf(service), operatorOf(hurried)];
});
afterAll(async () => {
  for (const each of [operator, hurriedOperator]) each.close();
  await Promise.all([service.close(), hurried.close()]);
});

const s3 = (operation: string) => ({ service: 's3', operation }) as const;

/**
 * Gives a function of `hurried` 10 seconds while `run` sends it the request that is to run out of time: the deadline is at 3.5 s, and the
 * 504 comes at 9.5 s at the latest. Every other request has the usual time, so that a slow machine changes no answer.
 */
async function inTenSeconds<Result>(fn: string, run: () => Promise<Result>): Promise<Result> {
  const config = hurried.lambda.find(fn);
  const { timeoutSeconds } = config;
  Object.assign(config, { timeoutSeconds: 10 });
  return run().finally(() => Object.assign(config, { timeoutSeconds }));
}

/** The calls to S3 since the mark that were answered or cut off. */
const ended = ({ front }: TestService, mark: number, operation: string) =>
  front.meter.since(mark).calls.filter((call) => call.operation === operation).length;

async function expectBalance(operator: Operator, accountId: string): Promise<void> {
  await operator.expireDeadlines();
  // An object has no row if it was stored too late for its upload.
  await walkEverything(operator);
  await operator.sweep();
  const { problems, unfinished } = await readBooks(operator, accountId);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
}

const namesOf = async (accountId: string) => (await readBooks(hurriedOperator, accountId)).accountOf(accountId).names;

/** These tests mostly wait. So the tests of both services run at the same time. A poll therefore needs the `expect` of its test. */
describe('contract: in time', () => {
  describe.concurrent('when a function has 10 seconds', () => {
    test('an upload that got 504 before its transaction never becomes a file, even when the next request resumes its function', {
      concurrent: false,
    }, async ({ expect }) => {
      const { id, byKey } = await hurried.newAccount();
      const released = Promise.withResolvers<void>();
      const late = { match: s3('PutObject'), effect: { answeredAfter: released.promise } } as const;
      const mark = hurried.front.meter.mark();
      await withFault(hurried, late, async (fault) => {
        const { status, body } = await inTenSeconds('UploadFileFunction', () => byKey.upload('first', 'hello'));
        expect([status, body]).toEqual([504, { error: 'timeout' }]);
        // S3 answers only now.
        released.resolve();
        await expect.poll(() => ended(hurried, mark, 'PutObject')).toBe(fault.hits);
      });

      // The next uploads run in the same environment, because there is only one.
      expect((await byKey.upload('second', 'hello')).status).toBe(201);
      expect((await byKey.upload('third', 'hello')).status).toBe(201);
      expect(await namesOf(id)).toEqual(['second', 'third']);
      await expectBalance(hurriedOperator, id);
      expect((await byKey.upload('first', 'hello')).status).toBe(201);
      expect(await namesOf(id)).toEqual(['first', 'second', 'third']);
      await expectBalance(hurriedOperator, id);
    });

    test('an upload that S3 answers only after its deadline begins no transaction and is 504, and the walk removes its object', {
      concurrent: false,
    }, async ({ expect }) => {
      const account = await hurried.newAccount();
      const late = { match: s3('PutObject'), effect: { delayMs: 3_900 }, times: 1 } as const;
      const mark = hurried.front.meter.mark();
      const { status, body } = await withFault(hurried, late, () =>
        inTenSeconds('UploadFileFunction', () => account.byKey.upload('late', 'hello')),
      );
      expect([status, body]).toEqual([504, { error: 'timeout' }]);
      const operations = hurried.front.meter.since(mark).calls.map(({ operation }) => operation);
      expect(operations).not.toContain('TransactWriteItems');
      await expectBalance(hurriedOperator, account.id);
      await expectNoTrace(hurried, account);
    });

    test('an upload whose transaction happens but is not answered in time is 503, and a retry under its key gives its file', {
      concurrent: false,
    }, async () => {
      const { id, byKey } = await hurried.newAccount();
      const keyed = { headers: { 'idempotency-key': 'k' } };
      const silent = { match: { operation: 'TransactWriteItems' }, effect: { delayMs: 60_000 } } as const;
      const answer = await withFault(hurried, silent, () => byKey.upload('silent', 'hello', keyed));
      expect([answer.status, answer.body]).toEqual([503, { error: 'service_unavailable' }]);
      const again = await byKey.upload('silent', 'hello', keyed);
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      expect(await namesOf(id)).toEqual(['silent']);
      await expectBalance(hurriedOperator, id);
    });

    test('a completion that got 504 makes no file until it is tried again', { concurrent: false }, async () => {
      const { id, byKey } = await hurried.newAccount();
      hurried.holdEvents();
      const { body: ticket } = await askForTicket(byKey, 'direct', 5);
      expect(await put(ticket, 'hello')).toBe(200);
      const late = { match: s3('CopyObject'), effect: { delayMs: 3_900 }, times: 1 } as const;
      const answer = await withFault(hurried, late, () =>
        inTenSeconds('CompleteUploadFunction', () => complete(byKey, ticket)),
      );
      expect([answer.status, answer.body]).toEqual([504, { error: 'timeout' }]);
      expect(await namesOf(id)).toEqual([]);
      expect((await complete(byKey, ticket)).status).toBe(201);
      expect(await namesOf(id)).toEqual(['direct']);
      await expectBalance(hurriedOperator, id);
    });
  });

  describe.concurrent('when a function has its usual time', () => {
    test('an upload succeeds although one call to the storage gets no answer', { concurrent: false }, async () => {
      const { byKey } = await service.newAccount();
      const lost = { match: s3('PutObject'), effect: 'timeout', times: 1 } as const;
      const mark = service.front.meter.mark();
      expect((await withFault(service, lost, () => byKey.upload('a', 'hello'))).status).toBe(201);
      expect(ended(service, mark, 'PutObject')).toBe(2);
    });

    test('a deletion is answered in time when S3 does not respond, and the sweeper removes the object', {
      concurrent: false,
    }, async () => {
      const account = await service.newAccount();
      const { body } = await account.byKey.upload('hangs', 'hello');
      const hangs = { match: s3('DeleteObject'), effect: 'timeout' } as const;
      await withFault(service, hangs, async (fault) => {
        const answer = await account.byKey.request('DELETE', `/files/${body.id}`);
        expect([answer.status, answer.body]).toEqual([200, { id: body.id, deleted: true }]);
        // The SDK would have tried again.
        expect(fault.hits).toBe(1);
      });
      expect(await service.storedBytes(account.id)).toBe(5);
      await expectBalance(operator, account.id);
      await expectNoTrace(service, account);
    });
  });
});
