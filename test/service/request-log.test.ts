import { afterAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import { askForTicket } from '../support/lanes.ts';
import { borrowTestService, type TestAccount } from '../support/service.ts';

/** The lines by which an operator finds out why a request failed. */

const service = await borrowTestService();
let account = await service.newAccount();
afterAll(() => service.close());

type Line = Record<string, unknown>;

/** The line that a function logged about a request. It may come after the answer. */
async function lineOf({ headers }: Answer): Promise<Line> {
  const id = String(headers.get('x-request-id'));
  const find = () => {
    const line = service.logs.find((line) => /^\S+ \{/.test(line) && line.includes(id)) ?? '{}';
    return JSON.parse(line.slice(line.indexOf('{'))) as Line;
  };
  await expect.poll(find).toMatchObject({ message: 'request', request_id: id });
  return find();
}

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

describe('the line of a request', () => {
  test('has the account, the address, the key prefix, the number of bytes, and the id of the file', async () => {
    const answer = await account.byKey.upload('a.txt', 'hello');
    expect(await lineOf(answer)).toMatchObject({
      level: 'info',
      message: 'request',
      request_id: answer.headers.get('x-request-id'),
      route: 'uploadFile',
      status: 201,
      account_id: account.id,
      by: 'key',
      key_prefix: account.key.slice(0, 12),
      client_address: '127.0.0.1',
      resource_id: answer.body.id,
      request_bytes: expect.any(Number),
    });
  });

  test.each<[lane: string, init: (form: string) => RequestInit]>([
    ['inline', (body) => ({ body })],
    ['streaming', (form) => ({ body: new Blob([form]).stream(), duplex: 'half' }) as RequestInit],
  ])('has exactly the bytes of the body in the %s lane', async (_, init) => {
    const part = 'Content-Disposition: form-data; name="file"; filename="a.txt"';
    const form = `--b\r\n${part}\r\n\r\nfünf\r\n--b--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await account.byKey.request('POST', '/files', { ...init(form), headers });
    expect(await lineOf(answer)).toMatchObject({ status: 201, request_bytes: Buffer.byteLength(form) });
  });

  test('has the prefix of a key that is no longer valid, and no other part of the key', async () => {
    const { body } = await account.bySession.request<{ items: { id: string }[] }>('GET', '/api-keys');
    await account.bySession.request('DELETE', `/api-keys/${body.items[0]?.id}`);
    const line = await lineOf(await account.byKey.request('GET', '/files'));
    expect(line).toMatchObject({
      status: 401,
      code: 'unauthorized',
      detail: 'there is no such key, or its account is suspended',
      key_prefix: account.key.slice(0, 12),
    });
    expect(JSON.stringify(line)).not.toContain(account.key.slice(0, 13));
    account = await service.newAccount(account.email);
  });

  test('has the bytes and the limit of a file that is too large', async () => {
    const request = { name: 'a', mime_type: 'text/plain', size_bytes: 2 ** 40 };
    const line = await lineOf(await account.byKey.postJson('/uploads', request));
    expect(line).toMatchObject({ code: 'file_too_large', bytes: 2 ** 40, limit_bytes: 104_857_600 });
  });

  test('says that no bytes of a direct upload have arrived, and how many were expected', async () => {
    const { body } = await askForTicket(account.byKey, 'a.txt', 5);
    const line = await lineOf(await account.byKey.request('POST', `/uploads/${body.id}/complete`));
    expect(line).toMatchObject({
      code: 'upload_incomplete',
      detail: 'no PUT has succeeded yet',
      resource_id: body.id,
      bytes: 0,
      expected_bytes: 5,
    });
    await account.byKey.request('DELETE', `/files/${body.id}`);
  });

  test.for<[string, (by: TestAccount) => Promise<Answer>, Line]>([
    ['a parameter', ({ byKey }) => byKey.request('GET', '/files?limit=x'), { detail: expect.stringMatching(/limit/) }],
    ['an id', ({ byKey }) => byKey.request('GET', `/files/${UNKNOWN_ID}`), { resource_id: UNKNOWN_ID }],
    [
      'a form without a file',
      ({ byKey }) => byKey.request('POST', '/files'),
      { detail: expect.stringMatching(/multipart/) },
    ],
  ])('names what was wrong with %s', async ([, send, expected]) => {
    const line = await lineOf(await send(account));
    expect(line).toMatchObject({ level: 'info', code: expect.any(String), account_id: account.id, ...expected });
  });

  test('has no part of the path or the body', async () => {
    const answers = [
      await account.byKey.request('GET', '/files/my-secret-path'),
      await account.byKey.postJson('/uploads', { name: 7, mime_type: 'my-secret-body' }),
      await account.byKey.request('GET', '/files?page=my-secret-query'),
      await account.byKey.request('POST', '/uploads', {
        body: '{"my-secret-json',
        headers: { 'content-type': 'application/json' },
      }),
    ];
    const lines = await Promise.all(answers.map(lineOf));
    expect(lines.map(({ code }) => code)).toEqual(['not_found', ...Array(3).fill('invalid_request')]);
    expect(JSON.stringify(lines)).not.toContain('my-secret');
  });
});

test('the line of the event has the id and the account of the direct upload that has arrived', async () => {
  const { body } = await askForTicket(account.byKey, 'a.txt', 5);
  await fetch(body.upload.url, { method: 'PUT', headers: body.upload.headers, body: 'hello' });
  const arrived = () => service.logs.find((line) => line.includes('upload arrived') && line.includes(body.id)) ?? '';
  await expect.poll(arrived).toContain(`"account_id":"${account.id}"`);
  expect(arrived()).toContain('"outcome":"settled"');
});
