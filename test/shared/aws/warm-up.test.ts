import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { getFile as route } from '../../../functions/files/get-file.route.ts';
import type { StoredFile } from '../../../shared/files/file.ts';

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('UPLOADS_BUCKET', 'bucket');
  // Nothing listens there.
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
  vi.stubEnv('ACCOUNTS_TABLE', 'accounts');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('the warm-up of the database succeeds without a connection, and leaves later calls alone', async () => {
  const { warmUpDatabase } = await import('../../../shared/aws/dynamodb.ts');
  const { accountStore } = await import('../../../shared/aws/account-store.ts');
  await warmUpDatabase();
  await expect(accountStore.get('id')).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('the warm-up of the storage succeeds without a connection, and leaves later calls alone', async () => {
  const { objectStore, warmUpStorage } = await import('../../../shared/aws/object-store.ts');
  await warmUpStorage();
  await expect(objectStore.size('key')).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('the checks of a route are rehearsed without a connection, but later requests need a connection', async () => {
  for (const table of ['API_KEYS', 'FILES', 'RATE_LIMITS']) vi.stubEnv(`${table}_TABLE`, table);
  vi.stubEnv('RATE_LIMIT_REQUESTS_PER_MINUTE', '240');
  vi.stubEnv('STAGE', 'local');
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const { apiHandler } = await import('../../../shared/stack/api-handler.ts');
  const { fileStore } = await import('../../../shared/aws/file-store.ts');
  const { getFile } = await import('../../../shared/files/file-record.ts');
  const { ok } = await import('../../../shared/http/response.ts');
  const { generateKey } = await import('../../../shared/api-keys/key-format.ts');
  const { promise: rehearsed, resolve } = Promise.withResolvers<StoredFile>();
  const handle = vi.fn(async () => ok({}));
  const answer = apiHandler(route as never, handle as never, async ({ caller: { accountId }, param }) => {
    resolve(await getFile({ files: fileStore }, { accountId, id: param('id') }));
  });
  expect(await rehearsed).toMatchObject({ state: 'ready' });
  // By then the rate limiter, which works at the same time as the read, has finished or failed.
  await new Promise((done) => setTimeout(done, 50));
  expect(log).not.toHaveBeenCalled();
  expect(handle).not.toHaveBeenCalled();

  const event = {
    ...{ httpMethod: 'GET', path: '/', multiValueQueryStringParameters: null, pathParameters: null, body: null },
    multiValueHeaders: { Authorization: [`Bearer ${generateKey('test')}`] },
    isBase64Encoded: false,
    requestContext: { requestId: 'id', identity: { sourceIp: '127.0.0.1' } },
  };
  const context = { getRemainingTimeInMillis: () => 10_000 } as Context;
  expect(await answer(event, context)).toMatchObject({ statusCode: 503 });
});
