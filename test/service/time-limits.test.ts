import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALL_MS } from '../../shared/aws/call-times.ts';
import { TIDYING_MS } from '../../shared/time-limit.ts';
import { readBooks } from '../support/books.ts';
import { expectNoTrace } from '../support/expect-no-trace.ts';
import { askForTicket, complete, put } from '../support/lanes.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { setTimeoutOf, type Templates } from '../support/template-edits.ts';
import { withFault } from '../support/with-fault.ts';
import { walkEverything } from './fast-forward.ts';

/** Requests end in time, and their answer stays true, however late AWS responds. */

let service: TestService;
let operator: Operator;
/** A service that gives the functions of uploads and completions 10 s: the deadline of an upload is at 3.5 s, its 504 comes at 9.5 s. */
let hurried: TestService;
let hurriedOperator: Operator;
const EARLY_ANSWER_MS = 9_500;

beforeAll(async () => {
  const edit = (templates: Templates) => {
    for (const fn of ['UploadFile', 'CompleteUpload']) setTimeoutOf(templates, fn, 10);
  };
  [service, hurried] = await Promise.all([startTestService(), startTestService({}, { edit })]);
  [operator, hurriedOperator] = [operatorOf(service), operatorOf(hurried)];
  // The time that a function takes to start is no part of the times below.
  await (await hurried.newAccount()).byKey.upload('warm', 'hello');
});
afterAll(async () => {
  for (const each of [operator, hurriedOperator]) each.close();
  await Promise.all([service.close(), hurried.close()]);
});

const s3 = (operation: string) => ({ service: 's3', operation }) as const;

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedAt = Date.now();
  const result = await work();
  return { result, ms: Date.now() - startedAt };
}

async function expectBalance(operator: Operator): Promise<void> {
  await operator.expireDeadlines();
  // An object has no row if it was stored too late for its upload.
  await walkEverything(operator);
  await operator.sweep();
  const { problems, unfinished } = await readBooks(operator);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [] });
}

const namesOf = async (accountId: string) => (await readBooks(hurriedOperator)).accountOf(accountId).names;

/** These tests mostly wait. So the tests of both services run at the same time. */
describe('contract: in time', () => {
  describe.concurrent('when a function has 10 seconds', () => {
    test('an upload that got 504 before its transaction never becomes a file, even when the next request resumes its function', {
      concurrent: false,
    }, async () => {
      const { id, byKey } = await hurried.newAccount();
      const late = { match: s3('PutObject'), effect: { delayMs: EARLY_ANSWER_MS + 1_000 } } as const;
      const { result, ms } = await withFault(hurried, late, () => timed(() => byKey.upload('first', 'hello')));
      expect([result.status, result.body]).toEqual([504, { error: 'timeout' }]);
      expect(ms).toBeLessThan(EARLY_ANSWER_MS + 1_000);

      // Wait until S3 has answered the first upload. The next uploads run in the same environment, because there is only one.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect((await byKey.upload('second', 'hello')).status).toBe(201);
      expect((await byKey.upload('third', 'hello')).status).toBe(201);
      expect(await namesOf(id)).toEqual(['second', 'third']);
      await expectBalance(hurriedOperator);
      expect((await byKey.upload('first', 'hello')).status).toBe(201);
      expect(await namesOf(id)).toEqual(['first', 'second', 'third']);
      await expectBalance(hurriedOperator);
    });

    test('an upload that S3 answers only after its deadline begins no transaction and is 504, and the walk removes its object', {
      concurrent: false,
    }, async () => {
      const account = await hurried.newAccount();
      const late = { match: s3('PutObject'), effect: { delayMs: 3_900 }, times: 1 } as const;
      const mark = hurried.front.meter.mark();
      const answer = await withFault(hurried, late, () => account.byKey.upload('late', 'hello'));
      expect([answer.status, answer.body]).toEqual([504, { error: 'timeout' }]);
      const operations = hurried.front.meter.since(mark).calls.map(({ operation }) => operation);
      expect(operations).not.toContain('TransactWriteItems');
      await expectBalance(hurriedOperator);
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
      await expectBalance(hurriedOperator);
    });

    test('a completion that got 504 makes no file until it is tried again', { concurrent: false }, async () => {
      const { id, byKey } = await hurried.newAccount();
      hurried.holdEvents();
      const { body: ticket } = await askForTicket(byKey, 'direct', 5);
      expect(await put(ticket, 'hello')).toBe(200);
      const late = { match: s3('CopyObject'), effect: { delayMs: 3_900 }, times: 1 } as const;
      const answer = await withFault(hurried, late, () => complete(byKey, ticket));
      expect([answer.status, answer.body]).toEqual([504, { error: 'timeout' }]);
      expect(await namesOf(id)).toEqual([]);
      expect((await complete(byKey, ticket)).status).toBe(201);
      expect(await namesOf(id)).toEqual(['direct']);
      await expectBalance(hurriedOperator);
    });
  });

  describe.concurrent('when a function has its usual time', () => {
    test('an upload succeeds although one call to the storage gets no answer', { concurrent: false }, async () => {
      const { byKey } = await service.newAccount();
      const lost = { match: s3('PutObject'), effect: 'timeout', times: 1 } as const;
      const { result, ms } = await withFault(service, lost, () => timed(() => byKey.upload('a', 'hello')));
      expect(result.status).toBe(201);
      expect(ms).toBeLessThan(2 * CALL_MS.object);
    });

    test('a deletion is answered in time when S3 does not respond, and the sweeper removes the object', {
      concurrent: false,
    }, async () => {
      const account = await service.newAccount();
      const { body } = await account.byKey.upload('hangs', 'hello');
      const hangs = { match: s3('DeleteObject'), effect: 'timeout' } as const;
      const { result, ms } = await withFault(service, hangs, () =>
        timed(() => account.byKey.request('DELETE', `/files/${body.id}`)),
      );
      expect([result.status, result.body]).toEqual([200, { id: body.id, deleted: true }]);
      expect(ms).toBeLessThan(TIDYING_MS + 1_000);
      expect(await service.storedBytes(account.id)).toBe(5);
      await expectBalance(operator);
      await expectNoTrace(service, account);
    });
  });
});
