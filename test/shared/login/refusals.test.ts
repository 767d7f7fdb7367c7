import { createHash } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import { type AllowList, accountIdOf } from '../../../shared/login/identity.ts';
import { cancelled, dynamoDbError } from '../../support/aws.ts';
import {
  type Attempt,
  accounts,
  begin,
  engine,
  expectLoggedIn,
  expectRefused,
  finish,
  forging,
  front,
  logIn,
  SECONDS,
  tables,
} from './logging-in.ts';

describe('only a person whom the operator allows can log in', () => {
  const google = { issuer: 'https://accounts.google.com' };
  test.each<[string, 'logs in' | 'is refused', AllowList, Attempt]>([
    [
      'with an address of an allowed domain, in any letter case,',
      'logs in',
      { domains: ['example.org'], emails: [] },
      {},
    ],
    ['with an allowed address, in any letter case,', 'logs in', { domains: [], emails: ['ada@example.org'] }, {}],
    ['on one of two lists', 'logs in', { domains: ['other.org'], emails: ['ada@example.org'] }, {}],
    ['on no list, because both are empty,', 'is refused', { domains: [], emails: [] }, {}],
    ['where everyone may log in', 'logs in', { domains: [], emails: ['everyone'] }, {}],
    ['on no list', 'is refused', { domains: ['other.org'], emails: ['bob@example.org'] }, {}],
    [
      'with an address of a subdomain',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { claims: { email: 'a@x.example.org' } },
    ],
    [
      'with an address of a domain that ends like an allowed one',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { claims: { email: 'a@notexample.org' } },
    ],
    [
      'with an allowed domain before the @',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { claims: { email: 'example.org@evil.com' } },
    ],
    [
      'with two @ in the address',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { claims: { email: 'a@example.org@evil.com' } },
    ],
    [
      'with a Google account that is not of the Workspace of the domain',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { provider: google, claims: { iss: google.issuer } },
    ],
    [
      'with a Workspace account of an allowed domain',
      'logs in',
      { domains: ['example.org'], emails: [] },
      { provider: google, claims: { iss: google.issuer, hd: 'example.org' } },
    ],
    [
      'with an address of an allowed domain and an account of another Workspace',
      'is refused',
      { domains: ['example.org'], emails: [] },
      { provider: google, claims: { iss: google.issuer, hd: 'other.org' } },
    ],
    [
      'with an address whose lower case would be an allowed one',
      'is refused',
      { domains: ['kiosk.org'], emails: ['a@kiosk.org'] },
      { claims: { email: 'a@\u212Aios\u212A.org' } },
    ],
    [
      'with a Workspace whose name in lower case would be an allowed domain',
      'is refused',
      { domains: ['kiosk.org'], emails: [] },
      { provider: google, claims: { iss: google.issuer, email: 'a@kiosk.org', hd: '\u212Aiosk.org' } },
    ],
    [
      'with an address of gmail.com, which is allowed,',
      'logs in',
      { domains: ['gmail.com'], emails: [] },
      { provider: google, claims: { iss: google.issuer, email: 'a@gmail.com' } },
    ],
  ])('a person %s %s', async (_, expected, allowed, attempt) => {
    const outcome = await logIn({ ...attempt, allowed });
    if (expected === 'logs in') expectLoggedIn(outcome);
    else await expectRefused(outcome, 'not_allowed');
  });

  test('a refused login leaves no account behind', async () => {
    const sub = crypto.randomUUID();
    await logIn({ claims: { sub }, allowed: { domains: ['other.org'], emails: [] } });
    expect(await accounts.get(accountIdOf(forging.provider.issuer, sub))).toBeUndefined();
  });

  test('a suspended account is refused', async () => {
    const sub = crypto.randomUUID();
    await logIn({ claims: { sub } });
    await engine.send(
      new UpdateItemCommand({
        TableName: tables.accounts,
        Key: { id: { S: accountIdOf(forging.provider.issuer, sub) } },
        UpdateExpression: 'SET suspended = :yes',
        ExpressionAttributeValues: { ':yes': { BOOL: true } },
      }),
    );
    await expectRefused(await logIn({ claims: { sub } }), 'not_allowed');
  });

  test('an account that is suspended after we read it is refused', async () => {
    const effect = cancelled('None', 'ConditionalCheckFailed');
    front.faults.add({ match: { operation: 'TransactWriteItems' }, effect });
    await expectRefused(await logIn(), 'not_allowed');
  });
});

describe('a login is unavailable when something fails, and login_failed when the provider refuses it:', () => {
  test.each([
    ['refuses the code', { status: 400, body: { error: 'invalid_grant', error_description: 'used' } }, 'login_failed'],
    ['refuses our secret', { status: 401, body: { error: 'invalid_client' } }, 'login_failed'],
    ['refuses without a reason', { status: 400, body: 'no' }, 'login_failed'],
    ['gives no ID token', { status: 200, body: { access_token: 'x' } }, 'login_failed'],
    ['answers with nothing', { status: 200, body: null }, 'login_failed'],
    ['is broken', { status: 500, body: {} }, 'unavailable'],
    ['is busy', { status: 429, body: {} }, 'unavailable'],
    ['hangs up', 'cut', 'unavailable'],
  ] as const)('the token endpoint of the provider %s', async (_, answer, code) => {
    const started = begin();
    forging.answer = answer;
    await expectRefused(await finish({}, started), code);
  });

  test('the token endpoint of the provider never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const started = begin();
    forging.answer = 'wait';
    const outcome = finish({}, started);
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await expectRefused(await outcome, 'unavailable');
  });

  test('the keys of the provider cannot be fetched', async () => {
    forging.keys = { status: 500, body: {} };
    await expectRefused(await logIn({ provider: { jwksUri: `${forging.provider.jwksUri}/new` } }), 'unavailable');
  });

  test('our own database is throttled', async () => {
    front.faults.add({ match: {}, effect: 'throttle' });
    await expectRefused(await logIn(), 'unavailable');
  });
});

test.each([
  ['the provider refuses our secret', true, { status: 401, body: { error: 'invalid_client' } }],
  ['the provider does not let our client use codes', true, { status: 400, body: { error: 'unauthorized_client' } }],
  ['the provider is broken', true, { status: 500, body: {} }],
  ['the provider refuses the code', false, { status: 400, body: { error: 'invalid_grant' } }],
] as const)('when %s, a login counts as failed by the service: %s', async (_, isOurFailure, answer) => {
  const started = begin();
  forging.answer = answer;
  const { refusal } = await finish({}, started);
  expect(refusal?.isOurFailure).toBe(isOurFailure);
});

test.each([
  ['lacks a grant', true, dynamoDbError('AccessDeniedException')],
  ['is throttled', true, 'throttle'],
] as const)('when our role %s, a login counts as failed by the service: %s', async (_, isOurFailure, effect) => {
  front.faults.add({ match: {}, effect });
  const { refusal } = await logIn();
  expect(refusal?.isOurFailure).toBe(isOurFailure);
});

test.each<[string, Attempt]>([
  ['a person who is on no list', { allowed: { domains: ['other.org'], emails: [] } }],
  ['an ID token of another attempt', { claims: { nonce: 'other' } }],
  ['an ID token for another client', { claims: { aud: 'other' } }],
  ['an ID token that is expired', { claims: { exp: 1 } }],
  ['something that is no ID token', { token: async () => 'x' }],
])('a login with %s does not count as failed by the service, and so leaves no stack trace', async (_, attempt) => {
  const { refusal } = await logIn(attempt);
  expect(refusal).toMatchObject({ isOurFailure: false, cause: { message: expect.stringMatching(/./) } });
});

test('a browser that makes up a state and its cookie causes no failure of the service', async () => {
  const state = 'é'.repeat(43);
  const name = `__Host-login-${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  const value = `${['a', 'b', 'c'].map((letter) => letter.repeat(43)).join('.')}.${SECONDS}`;
  const outcome = await finish({}, { state, cookies: [{ name, value }] });
  await expectRefused(outcome, 'login_failed');
  expect(outcome.refusal?.isOurFailure).toBe(false);
});

test('the error of a refusal contains no secret and no claim', async () => {
  const started = begin();
  const told = [];
  for (const attempt of [
    { claims: { nonce: 'other' } },
    { claims: { aud: 'other' } },
    { claims: { email_verified: false } },
    { token: async () => 'hunter2' },
    { parameters: { state: ['x'.repeat(43)] } },
  ]) {
    const { refusal, location } = await logIn(attempt, started);
    const error = refusal?.cause as Error | undefined;
    told.push(error?.message, error?.stack, String(error?.cause), JSON.stringify(refusal), location);
  }
  const all = told.join('\n');
  const [verifier = ''] = started.cookies.map(({ value }) => value.split('.')[1]);
  for (const secret of [
    'Ada Lovelace',
    'Ada@',
    'example.org"',
    'hunter2',
    'our-secret',
    'code-1',
    started.state,
    started.nonce,
    verifier,
  ]) {
    expect(all).not.toContain(secret);
  }
});
