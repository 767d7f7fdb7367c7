import { afterAll, describe, expect, test } from 'vitest';
import type { FaultSubject } from '../../local-aws/service.ts';
import { borrowTestService } from '../support/service.ts';

const service = await borrowTestService();
afterAll(() => service.close());

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

describe('contract: retries', () => {
  test('a retry with the same key gets the first record with Idempotency-Replayed, and stores nothing', async () => {
    const { byKey, id } = await service.newAccount();
    const first = await byKey.upload('a.txt', 'same', keyed('k1'));
    const mark = service.front.meter.mark();
    const again = await byKey.upload('a.txt', 'same', keyed('k1'));
    expect(service.front.meter.since(mark).calls.filter(({ operation }) => operation === 'PutObject')).toEqual([]);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await service.storedBytes(id)).toBe(4);
  });

  test.for([
    ['content', 'a.txt', 'other', 'text/plain'],
    ['name', 'b.txt', 'same', 'text/plain'],
    ['type', 'a.txt', 'same', 'text/html'],
  ] as const)('an upload of another %s with the same key is 409', async ([, name, content, type]) => {
    const { byKey, id } = await service.newAccount();
    await byKey.upload('a.txt', 'same', { type: 'text/plain', ...keyed('k') });
    const answer = await byKey.upload(name, content, { type, ...keyed('k') });
    expect([answer.status, answer.body]).toEqual([409, { error: 'idempotency_conflict' }]);
    expect(await service.storedBytes(id)).toBe(4);
  });

  test('simultaneous uploads with one key make one file, and all get its record', async () => {
    const { byKey, id } = await service.newAccount();
    const answers = await Promise.all(Array.from({ length: 8 }, () => byKey.upload('a', 'once', keyed('race'))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await service.storedBytes(id)).toBe(4);
  });

  test('the second of two simultaneous uploads to finish gets the record of the first', async () => {
    const { byKey, id } = await service.newAccount();
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
    const slow = byKey.upload('a', 'once', keyed('two'));
    await reached.promise;
    const fast = await byKey.upload('a', 'once', keyed('two'));
    released.resolve();
    const answers = [await slow, fast];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(1);
    expect(await service.storedBytes(id)).toBe(4);
  });

  test('a retry gets the first record even when the file has been deleted since', async () => {
    const { byKey } = await service.newAccount();
    const { body } = await byKey.upload('a', 'gone', keyed('k'));
    await byKey.request('DELETE', `/files/${body.id}`);
    const again = await byKey.upload('a', 'gone', keyed('k'));
    expect([again.status, again.body]).toEqual([201, body]);
    expect((await byKey.request('GET', `/files/${body.id}`)).status).toBe(404);
  });

  test('the same key of two accounts makes two files', async () => {
    const [one, two] = [await service.newAccount(), await service.newAccount()];
    const first = await one.byKey.upload('a', 'x', keyed('k'));
    const second = await two.byKey.upload('a', 'x', keyed('k'));
    expect(second.headers.get('idempotency-replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });

  test.for([
    ['one character', 'k'],
    ['255 characters', 'x'.repeat(255)],
    ['the first and the last printable ASCII character', 'a ~'],
  ] as const)('a key of %s is accepted', async ([, key]) => {
    const { byKey } = await service.newAccount();
    const [first, again] = [await byKey.upload('a', 'x', keyed(key)), await byKey.upload('a', 'x', keyed(key))];
    expect([first.status, again.body.id]).toEqual([201, first.body.id]);
  });

  test('a failed upload can be retried with the same key', async () => {
    const { byKey } = await service.newAccount();
    const fault = service.front.faults.add({
      match: { service: 's3', operation: 'PutObject' },
      effect: 'error-before',
    });
    const failed = await byKey.upload('a', 'x', keyed('k'));
    fault.remove();
    expect(failed.status).toBe(503);
    const again = await byKey.upload('a', 'x', keyed('k'));
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });

  test.for([
    ['happened', 'error-after', 'never', 'true'],
    ['did not happen', 'error-before', 'never', null],
    ['happens before the retry', 'late', 'before', 'true'],
    ['happens after the retry', 'late', 'after', null],
  ] as const)(
    'after a 503 whose outcome is unknown, a retry with the key gives the one file, which serves its bytes: the first upload %s',
    async ([, effect, when, replayed]) => {
      const { byKey, id } = await service.newAccount();
      const late = Promise.withResolvers<void>();
      const fault = service.front.faults.add({
        match: { operation: 'TransactWriteItems' },
        effect: effect === 'late' ? { lateBy: late.promise } : effect,
        times: 3,
      });
      expect((await byKey.upload('a', 'once', keyed('k'))).status).toBe(503);
      fault.remove();
      const happenLate = async () => {
        late.resolve();
        await fault.lateAnswers();
      };
      if (when === 'before') await happenLate();
      const again = await byKey.upload('a', 'once', keyed('k'));
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
      if (when === 'after') await happenLate();
      const { body: list } = await byKey.request('GET', '/files');
      expect(list).toMatchObject({ items: [again.body], total: 1 });
      expect(await (await fetch(String(again.body.url))).text()).toBe('once');
      expect((await service.rowsOf(id)).length).toBe(1);
    },
  );

  test('after a 503 without a key the file may appear, and then it serves its bytes', async () => {
    const { byKey } = await service.newAccount();
    const late = Promise.withResolvers<void>();
    const match = { operation: 'TransactWriteItems' };
    const fault = service.front.faults.add({ match, effect: { lateBy: late.promise }, times: 3 });
    expect((await byKey.upload('a', 'late')).status).toBe(503);
    fault.remove();
    expect((await byKey.request('GET', '/files')).body).toMatchObject({ items: [], total: 0 });
    late.resolve();
    await fault.lateAnswers();
    const { body } = await byKey.request<{ items: { url: string }[] }>('GET', '/files');
    expect(body).toMatchObject({ items: [{ name: 'a', size_bytes: 4 }], total: 1 });
    expect(await (await fetch(String(body.items[0]?.url))).text()).toBe('late');
  });

  test.for([
    ['no characters', ''],
    ['256 characters', 'x'.repeat(256)],
    ['non-ASCII characters', 'naïve'],
  ] as const)('a key of %s is 400', async ([, key]) => {
    const { byKey } = await service.newAccount();
    const answer = await byKey.upload('a', 'x', {
      headers: { 'idempotency-key': Buffer.from(key).toString('latin1') },
    });
    expect([answer.status, answer.body]).toEqual([400, { error: 'invalid_request' }]);
  });

  test('a retry of a ticket request gets the same ticket with a URL that is signed again, and after its completion the file', async () => {
    const { byKey } = await service.newAccount();
    const request = { name: 'd.bin', mime_type: 'application/octet-stream', size_bytes: 3 };
    type Ticket = { id: string; upload: { url: string; headers: Record<string, string> } };
    const first = await byKey.postJson<Ticket>('/uploads', request, { 'idempotency-key': 't' });
    const again = await byKey.postJson<Ticket>('/uploads', request, { 'idempotency-key': 't' });
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const put = await fetch(again.body.upload.url, { method: 'PUT', headers: again.body.upload.headers, body: 'abc' });
    expect(put.status).toBe(200);
    const done = await byKey.request('POST', `/uploads/${first.body.id}/complete`);
    const replay = await byKey.postJson('/uploads', request, { 'idempotency-key': 't' });
    expect([replay.status, replay.body]).toEqual([201, { id: first.body.id, file: done.body }]);
  });
});
