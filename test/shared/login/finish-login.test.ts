import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SESSION_IDLE_MS } from '../../../shared/contract/limits.ts';
import type { Cookie } from '../../../shared/http/cookies.ts';
import type { LoginOutcome } from '../../../shared/login/finish-login.ts';
import { accountIdOf } from '../../../shared/login/identity.ts';
import { findSession } from '../../../shared/sessions/session.ts';
import {
  type Attempt,
  accounts,
  begin,
  browser,
  expectLoggedIn,
  expectRefused,
  forging,
  logIn,
  NOW,
  SECONDS,
  sessionOf,
  sessions,
} from './logging-in.ts';

describe('a login', () => {
  test('ends in the dashboard with a session, and stores the profile of the person in the account', async () => {
    const outcome = await logIn();
    expect(outcome.location).toBe('https://app.example.org/dashboard');
    expect(outcome.refusal).toBeUndefined();
    const id = accountIdOf(forging.provider.issuer, 'subject-1');
    expect(await findSession(sessions, sessionOf(outcome) ?? '')).toMatchObject({ accountId: id });
    expect(await accounts.get(id)).toMatchObject({
      email: 'Ada@Example.org',
      name: 'Ada Lovelace',
      pictureUrl: 'https://pictures.example/ada.png',
    });
  });

  test('authenticates to the provider by the client secret and the PKCE verifier', async () => {
    const started = begin();
    await logIn({}, started);
    const [{ form, authorization } = { form: new URLSearchParams(), authorization: '' }] = forging.exchanges;
    expect(authorization).toBe(`Basic ${Buffer.from('our-client:our-secret').toString('base64')}`);
    expect(form.get('grant_type')).toBe('authorization_code');
    expect(form.get('code')).toBe('code-1');
    expect(form.get('redirect_uri')).toBe('https://app.example.org/api/v1/auth/google/callback');
    const verifier = form.get('code_verifier') ?? '';
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(started.challenge);
  });

  test('finds the same account under a new e-mail address, and another one under another subject', async () => {
    const ids = [];
    for (const claims of [{}, { email: 'new@example.org' }, { sub: 'subject-2' }]) {
      ids.push((await findSession(sessions, sessionOf(await logIn({ claims })) ?? ''))?.accountId);
    }
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  test.each(['https://accounts.google.com', 'accounts.google.com'])(
    'finds the same account when Google names itself as the issuer %s',
    async (iss) => {
      const provider = { issuer: 'https://accounts.google.com' };
      const outcome = await logIn({ claims: { iss }, provider, parameters: { iss: [iss] } });
      const session = await findSession(sessions, sessionOf(outcome) ?? '');
      expect(session?.accountId).toBe(accountIdOf('https://accounts.google.com', 'subject-1'));
    },
  );

  test.each([
    ['no name', { name: undefined }, { name: 'Ada@Example.org' }],
    ['no picture', { picture: undefined }, {}],
    ['a picture that is a script', { picture: 'javascript:alert(1)' }, {}],
    ['a picture without TLS', { picture: 'http://pictures.example/ada.png' }, {}],
  ])('succeeds with %s', async (_, claims, profile) => {
    const sub = crypto.randomUUID();
    await logIn({ claims: { ...claims, sub } });
    const account = await accounts.get(accountIdOf(forging.provider.issuer, sub));
    expect(account).toMatchObject(profile);
    if ('picture' in claims) expect(account).not.toHaveProperty('pictureUrl');
  });

  test('succeeds when two are open at the same time', async () => {
    const one = begin();
    const two = begin({ cookies: one.cookies });
    const first = await logIn({}, { ...one, cookies: two.cookies });
    expectLoggedIn(first);
    const second = await logIn({}, { ...two, cookies: browser(first.cookies, two.cookies) });
    expectLoggedIn(second);
  });

  test('succeeds until its 600th second', async () => {
    const started = begin();
    const now = NOW + 600_000;
    expectLoggedIn(await logIn({ now, claims: { iat: SECONDS + 600 } }, started));
  });
});

describe('an attempt to log in', () => {
  const leftOver = (outcome: LoginOutcome, cookies: Cookie[]) =>
    browser(outcome.cookies, cookies).filter(({ name }) => name.includes('login'));

  test.each<[string, Attempt]>([
    ['a login', {}],
    ['a bad token', { claims: { nonce: 'other' } }],
    ['a refusal at the provider', { parameters: { error: ['access_denied'], code: undefined } }],
    ['a login of a person who is not allowed', { allowed: { domains: ['other.org'], emails: [] } }],
  ])('is over after %s', async (_, attempt) => {
    const started = begin();
    expect(leftOver(await logIn(attempt, started), started.cookies)).toEqual([]);
  });

  test('is not ended by the callback of another tab', async () => {
    const one = begin();
    const two = begin({ cookies: one.cookies });
    const outcome = await logIn({}, { ...one, cookies: two.cookies });
    expect(leftOver(outcome, two.cookies).map(({ value }) => value.split('.')[0])).toEqual([two.state]);
  });

  test('ends with its first callback: the second makes no request to the provider, and leads to the dashboard until the session ends', async () => {
    const started = begin();
    const first = await logIn({}, started);
    const later = { ...started, cookies: browser(first.cookies, started.cookies) };
    expect(await logIn({}, later)).toEqual({ location: 'https://app.example.org/dashboard', cookies: [] });
    await expectRefused(await logIn({ now: NOW + SESSION_IDLE_MS }, later), 'expired');
    await expectRefused(await logIn({}, { ...started, cookies: [] }), 'expired');
    expect(forging.exchanges).toHaveLength(1);
  });
});

describe('a callback that is not the answer to this browser is refused before the provider is asked:', () => {
  test.each<readonly [string, string, (started: ReturnType<typeof begin>) => Attempt & { started?: object }]>([
    ['without a state', 'login_failed', () => ({ parameters: { state: undefined } })],
    ['with an empty state', 'login_failed', () => ({ parameters: { state: [''] } })],
    ['with two states', 'login_failed', ({ state }) => ({ parameters: { state: [state, 'x'] } })],
    ['with an unknown state', 'expired', () => ({ parameters: { state: ['x'.repeat(43)] } })],
    ['with the state of another browser', 'expired', () => ({ parameters: { state: [begin().state] } })],
    [
      'with a state in another letter case',
      'expired',
      ({ state }) => ({ parameters: { state: [state.toLowerCase()] } }),
    ],
    ['with a state and one more character', 'expired', ({ state }) => ({ parameters: { state: [`${state}x`] } })],
    ['without a code', 'login_failed', () => ({ parameters: { code: undefined } })],
    ['with an empty code', 'login_failed', () => ({ parameters: { code: [''] } })],
    ['with two codes', 'login_failed', () => ({ parameters: { code: ['a', 'b'] } })],
    ['with a refusal', 'access_denied', () => ({ parameters: { error: ['access_denied'] } })],
    ['with another error', 'login_failed', () => ({ parameters: { error: ['server_error'] } })],
    ['from another issuer', 'login_failed', () => ({ parameters: { iss: ['https://attacker.example'] } })],
    ...['iss', 'error', 'scope', 'error_description'].map(
      (name) => [`with two values of ${name}`, 'login_failed', () => ({ parameters: { [name]: ['a', 'a'] } })] as const,
    ),
    ['a second too late', 'expired', () => ({ now: NOW + 601_000 })],
  ])('%s: %s', async (_, code, change) => {
    const started = begin();
    await expectRefused(await logIn(change(started), started), code);
    expect(forging.exchanges).toEqual([]);
  });

  test.each<[string, string, (cookies: Cookie[], other: Cookie[]) => Cookie[]]>([
    ['without the cookie', 'expired', () => []],
    ['with the cookie of another attempt', 'expired', (_, other) => other],
    [
      'with the value of another attempt under its name',
      'login_failed',
      ([mine], [other]) => [{ name: mine?.name ?? '', value: other?.value ?? '' }],
    ],
    [
      'with a planted cookie beside its own',
      'expired',
      ([mine], [other]) => [
        { name: mine?.name ?? '', value: other?.value ?? '' },
        { name: mine?.name ?? '', value: mine?.value ?? '' },
      ],
    ],
    ['with garbage under its name', 'login_failed', ([mine]) => [{ name: mine?.name ?? '', value: 'x.y.z' }]],
    [
      'with its cookie under the name that is used without TLS',
      'expired',
      ([mine]) => [{ name: mine?.name.replace('__Host-', '') ?? '', value: mine?.value ?? '' }],
    ],
  ])('%s: %s', async (_, code, change) => {
    const started = begin();
    await expectRefused(await logIn({}, { ...started, cookies: change(started.cookies, begin().cookies) }), code);
    expect(forging.exchanges).toEqual([]);
  });

  test('no parameter can change where the browser is redirected to', async () => {
    const elsewhere = ['https://attacker.example'];
    for (const name of ['redirect_uri', 'redirect', 'next', 'returnTo', 'state', 'error']) {
      const outcome = await logIn({ parameters: { [name]: elsewhere } });
      expect(outcome.location).toMatch(/^https:\/\/app\.example\.org\/dashboard(\/login\?error=\w+)?$/);
    }
  });
});
