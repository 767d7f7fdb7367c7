import { beforeAll, describe, expect, test } from 'vitest';
import { createApiKey } from '../../../shared/api-keys/api-key.ts';
import type { ApiEvent } from '../../../shared/http/request.ts';
import { startSession } from '../../../shared/sessions/session.ts';
import { authenticate } from '../../../shared/stack/authenticate.ts';
import type { Middleware } from '../../../shared/stack/route-stack.ts';
import { startAws } from '../../support/aws.ts';
import { bePatient } from '../../support/patient-clients.ts';
import { putAccount } from '../../support/tables.ts';

const { engine, tables, operations } = await startAws();
const { apiKeyStore, apiKeyCredentials: keys } = await import('../../../shared/aws/api-key-store.ts');
const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
bePatient((await import('../../../shared/aws/dynamodb.ts')).dynamoDb);

const keyOwner = await putAccount(engine, tables);
const browserOwner = await putAccount(engine, tables);
let key: string;
let token: string;

beforeAll(async () => {
  const request = { accountId: keyOwner, name: 'ci', kind: 'live' as const, deadlineAt: Date.now() + 20_000 };
  ({ key } = await createApiKey(apiKeyStore, request));
  token = await startSession(sessions, { accountId: browserOwner, userAgent: '' });
});

async function who(
  { authorization = [], cookie = [] }: { authorization?: string[]; cookie?: string[] },
  {
    access = 'key-or-session',
    appUrl = 'https://app.example.org',
  }: { access?: 'session' | 'key-or-session'; appUrl?: string } = {},
) {
  const stores = { keys, sessions, appUrl: async () => appUrl };
  const event = { multiValueHeaders: { Authorization: authorization, Cookie: cookie } } as unknown as ApiEvent;
  await authenticate(stores, access).before?.({ event, internal: {} } as Parameters<
    NonNullable<Middleware['before']>
  >[0]);
  return event.caller;
}

describe('a key', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])(
    'a key after the scheme %s is the credential of its account',
    async (scheme) => {
      expect(await who({ authorization: [`${scheme} ${key}`] })).toEqual({
        accountId: keyOwner,
        by: 'key',
        keyPrefix: key.slice(0, 12),
      });
      expect(operations().filter((call) => call === 'GetItem')).toHaveLength(1);
    },
  );

  test('is found after several spaces', async () => {
    expect(await who({ authorization: [`Bearer   ${key}`] })).toMatchObject({ by: 'key' });
  });

  test('wins over a cookie', async () => {
    const headers = { authorization: [`Bearer ${key}`], cookie: [`__Host-session=${token}`] };
    expect(await who(headers)).toMatchObject({ accountId: keyOwner, by: 'key' });
  });

  test('does not open a route for sessions only, with or without a cookie', async () => {
    const authorization = [`Bearer ${key}`];
    const cookie = [`__Host-session=${token}`];
    await expect(who({ authorization }, { access: 'session' })).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(who({ authorization, cookie }, { access: 'session' })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(operations()).toEqual([]);
  });
});

describe('an Authorization header is refused, even beside a valid cookie:', () => {
  test.each([
    ['when it is empty', () => ['']],
    ['with an empty key', () => ['Bearer ']],
    ['with the key alone', () => [key]],
    ['with another scheme', () => [`Basic ${key}`]],
    ['with a tab', () => [`Bearer\t${key}`]],
    ['with text after the key', () => [`Bearer ${key} x`]],
    ['with a session token', () => [`Bearer ${token}`]],
    ['twice', () => [`Bearer ${key}`, `Bearer ${key}`]],
    ['with 50,000 spaces', () => [`Bearer ${' '.repeat(50_000)}`]],
  ])('%s', async (_, authorization) => {
    const cookie = [`__Host-session=${token}`];
    await expect(who({ authorization: authorization(), cookie })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(operations()).toEqual([]);
  });
});

describe('a session cookie', () => {
  test.each(['session', 'key-or-session'] as const)(
    'opens a route with the access "%s", with one read',
    async (access) => {
      expect(await who({ cookie: [`a=b; __Host-session=${token}`] }, { access })).toEqual({
        accountId: browserOwner,
        by: 'session',
        sessionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(operations()).toEqual(['GetItem']);
    },
  );

  test('has its plain name only where there is no TLS', async () => {
    const cookie = [`session=${token}`];
    expect(await who({ cookie }, { appUrl: 'http://localhost:8787' })).toMatchObject({ accountId: browserOwner });
    await expect(who({ cookie })).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test.each([
    ['it is empty', () => ['__Host-session=']],
    ['its token is unknown', () => [`__Host-session=${'a'.repeat(43)}`]],
    ['it holds a key', () => [`__Host-session=${key}`]],
  ])('is refused when %s', async (_, cookie) => {
    await expect(who({ cookie: cookie() })).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
