import { createHash } from 'node:crypto';
import { ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from 'vitest';
import { cookieJar } from '../../local-aws/identity-provider/cookie-jar.ts';
import { logIn } from '../../local-aws/identity-provider/log-in.ts';
import type { Fault, FaultSubject } from '../../local-aws/service.ts';
import { client } from '../support/client.ts';
import { type RawAnswer, rawRequest, sendRaw } from '../support/raw-http.ts';
import { borrowTestService, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { dynamoDbClient } from '../support/tables.ts';
import { withFault } from '../support/with-fault.ts';

const service = await borrowTestService();
afterAll(() => service.close());

const start = () => `${service.urls.base_url}/auth/google`;

describe('contract: login', () => {
  test('starting a login sends state, nonce and an S256 challenge, and keeps the attempt in a cookie of its own', async () => {
    const answer = await client(service.urls.base_url).request('GET', '/auth/google');
    const { searchParams } = new URL(answer.headers.get('location') ?? '');
    expect(searchParams.get('state') ?? '').toMatch(/^.{32,}$/);
    expect(searchParams.get('nonce') ?? '').toMatch(/^.{20,}$/);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('code_challenge') ?? '').toMatch(/^[\w-]{43}$/);
    const [cookie] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    expect(cookie).not.toMatch(/session/i);
  });

  test('a successful login ends at the dashboard with a session', async () => {
    const { cookies, location } = await logIn({ startUrl: start(), email: 'ada@example.com' });
    expect(location).toBe(`${service.urls.dashboard_url}/dashboard`);
    const me = await client(service.urls.base_url, { cookie: cookies }).request('GET', '/auth/me');
    expect(me.body).toMatchObject({ email: 'ada@example.com' });
  });

  test.for([
    ['that is cancelled', 'eve@example.com', 'cancel', 'access_denied'],
    ['with an unverified address', 'unverified@example.com', 'continue', 'email_not_verified'],
  ] as const)('a login %s ends at the login page with an error code', async ([, email, choice, code]) => {
    const { location, cookies, setCookies } = await logIn({ startUrl: start(), email, choice });
    expect(location).toBe(`${service.urls.dashboard_url}/dashboard/login?error=${code}`);
    expect(setCookies).toEqual([expect.stringMatching(/^login-\w+=; .*Max-Age=0;/)]);
    expect((await client(service.urls.base_url, { cookie: cookies }).request('GET', '/auth/me')).status).toBe(401);
  });

  test('a callback that a person or browser has spoiled leaves the reason in the log, and no stack trace', async () => {
    const before = service.logs.length;
    const jar = cookieJar();
    await logIn({ startUrl: start(), email: 'eve@example.com', choice: 'cancel', jar });
    await logIn({ startUrl: start(), email: 'unverified@example.com', jar });
    const begun = await client(service.urls.base_url).request('GET', '/auth/google');
    const [cookie = ''] = begun.headers.getSetCookie()[0]?.split(';') ?? [];
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state');
    for (const query of ['', '?state=x&code=y', `?state=${state}&code=a&iss=b&iss=b`, `?state=${state}&code=wrong`]) {
      const answer = await client(service.urls.base_url, { cookie }).request('GET', `/auth/google/callback${query}`);
      expect(answer.headers.get('location')).toMatch(/\?error=/);
    }
    const refused = () => service.logs.slice(before).filter((line) => line.includes('"login refused"'));
    await expect.poll(refused).toHaveLength(6);
    expect(refused().filter((line) => !line.includes('"detail":"') || line.includes('"stack"'))).toEqual([]);
  });

  test('a login takes one use of the limit of starts, because its callback is counted separately', async () => {
    const limited = await startTestService({ RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '2' });
    const start = () => logIn({ startUrl: `${limited.urls.base_url}/auth/google`, email: 'me@example.com' });
    for (const _ of [1, 2]) expect((await start()).location).toMatch(/\/dashboard$/);
    await expect(start()).rejects.toThrow(/429/);
    await limited.close();
  });

  describe('a failure during a login redirects a browser to the login page, and gives a program JSON', () => {
    /** Requests a page as a browser does. `fetch` cannot do this, because it always sends its own `Sec-Fetch-Mode`. */
    async function open({ urls }: TestService, path: string, cookie = ''): Promise<RawAnswer> {
      const headers = ['Sec-Fetch-Mode: navigate', 'Accept: text/html,*/*;q=0.8', `Cookie: ${cookie}`];
      const answer = await sendRaw(urls.root_url, rawRequest(`GET /api/v1${path}`, headers));
      if (!answer) throw new Error(`no answer to ${path}`);
      return answer;
    }
    const broken = (match: Fault['match']): Fault => ({ match, effect: 'error-before' });
    const pageOf = (code: string) => `/dashboard/login?error=${code}`;

    test('an exceeded limit of login starts or callbacks adds the rate-limit headers', async () => {
      const limited = await startTestService({ RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: '1' });
      const byProgram = client(limited.urls.base_url);
      for (const path of ['/auth/google', '/auth/google/callback']) {
        await byProgram.request('GET', path);
        const program = await byProgram.request('GET', path);
        expect([program.status, program.body]).toEqual([429, { error: 'rate_limit_exceeded' }]);
        const browser = await open(limited, path);
        expect([browser.status, browser.headers.get('location')]).toEqual([302, pageOf('rate_limit_exceeded')]);
        expect(browser.headers.get('ratelimit')).toMatch(/;r=0;t=\d+$/);
        expect(browser.headers.get('retry-after')).toBeNull();
      }
      await limited.close();
    });

    test('a login cannot start while the address of the app cannot be looked up', async () => {
      const fresh = await startTestService();
      const byProgram = client(fresh.urls.base_url);
      await withFault(fresh, broken({ service: 'ssm' }), async () => {
        const browser = await open(fresh, '/auth/google');
        expect([browser.status, browser.headers.get('location')]).toEqual([302, pageOf('unavailable')]);
        const program = await byProgram.request('GET', '/auth/google');
        expect([program.status, program.body]).toEqual([503, { error: 'service_unavailable' }]);
      });
      await fresh.close();
    });

    test('a callback that finds the database down ends the attempt, and the log has the cause', async () => {
      const begun = await client(service.urls.base_url).request('GET', '/auth/google');
      const [cookie = ''] = begun.headers.getSetCookie()[0]?.split(';') ?? [];
      const { searchParams } = new URL(begun.headers.get('location') ?? '');
      const callback = `/auth/google/callback?code=x&state=${searchParams.get('state')}`;
      const start = service.logs.length;
      await withFault(service, broken({ service: 'dynamodb' }), async () => {
        const answer = await open(service, callback, cookie);
        expect([answer.status, answer.headers.get('location')]).toEqual([302, pageOf('unavailable')]);
        expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^login-\w+=; .*Max-Age=0;/)]);
        const program = await client(service.urls.base_url).request('GET', callback);
        expect([program.status, program.body]).toEqual([503, { error: 'service_unavailable' }]);
      });
      const logged = () => service.logs.slice(start).find((line) => line.includes('"route":"finishLogin"')) ?? '';
      await expect.poll(logged).toMatch(/"level":"error".*"status":302.*"code":"service_unavailable".*"cause":/);
    });
  });

  test('the cookie of a login attempt lasts ten minutes, and is removed when the login succeeds', async () => {
    const begun = await client(service.urls.base_url).request('GET', '/auth/google');
    expect(begun.headers.getSetCookie()).toEqual([expect.stringMatching(/^login-\w+=[^;]+; .*Max-Age=600;/)]);
    const { setCookies } = await logIn({ startUrl: start(), email: 'ada@example.com' });
    expect(setCookies.slice(1)).toEqual([expect.stringMatching(/^login-\w+=; .*Max-Age=0;/)]);
  });

  test('a callback without the cookie of its attempt creates no session', async () => {
    const answer = await client(service.urls.base_url).request('GET', '/auth/google/callback?code=x&state=y');
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toMatch(/\/dashboard\/login\?error=\w+$/);
    expect(answer.headers.getSetCookie().join()).not.toMatch(/session=[^;]/);
  });

  test('a callback that comes again leads to the dashboard while the session lasts, and to the login page without one', async () => {
    const jar = cookieJar();
    let callback = '';
    const { cookies } = await logIn({
      startUrl: start(),
      email: 'ada@example.com',
      jar,
      around: async (comeBack) => {
        const answer = await comeBack();
        callback = answer.url;
        return answer;
      },
    });
    const again = async (cookie: string, url = callback) => {
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
      return [answer.headers.get('location'), answer.headers.getSetCookie()];
    };
    const page = `${service.urls.dashboard_url}/dashboard`;
    expect(await again(cookies)).toEqual([page, []]);
    expect(await again(cookies, `${start()}/callback`)).toEqual([page, []]);
    expect(await again(cookies, `${start()}/callback?error=access_denied&state=x`)).toEqual([page, []]);
    expect(await again('')).toEqual([`${page}/login?error=expired`, []]);
    await client(service.urls.base_url, { cookie: cookies }).request('POST', '/auth/logout');
    expect(await again(cookies)).toEqual([`${page}/login?error=expired`, []]);
  });

  test('a login that begins at another name of the host first moves to the address of the service, and only once', async () => {
    const { host, port } = new URL(service.urls.dashboard_url);
    const begin = async (name: string, query = '') => {
      const head = rawRequest(`GET /api/v1/auth/google${query}`, []).replace(/^Host: .*$/m, `Host: ${name}`);
      const answer = await sendRaw(service.urls.root_url, head);
      return [answer?.headers.get('location') ?? '', answer?.headers.getSetCookie().length];
    };
    const moved = `${start()}?moved=1`;
    for (const name of [`127.0.0.1:${port}`, `[::1]:${port}`, 'd111111abcdef8.cloudfront.net', `${host}.example`]) {
      expect(await begin(name)).toEqual([moved, 0]);
    }
    expect(await begin('127.0.0.1', '?prompt=select_account')).toEqual([`${start()}?prompt=select_account&moved=1`, 0]);
    for (const [name, query] of [[host], [host.toUpperCase()], ['localhost:1'], ['127.0.0.1', '?moved=1']] as const) {
      expect(await begin(name, query)).toEqual([expect.stringContaining(service.urls.identity_provider_url), 1]);
    }
  });

  test.for([
    [[], 'the provider'],
    [['none'], 'the provider'],
    [['same-origin'], 'the provider'],
    [['cross-site'], 'the login page'],
    [['same-site'], 'the login page'],
    [['same-origin', 'cross-site'], 'the login page'],
  ] as const)('a start that comes from %j leads to %s', async ([sites, where]) => {
    const headers = ['Sec-Fetch-Mode: navigate', ...sites.map((site) => `Sec-Fetch-Site: ${site}`)];
    const answer = await sendRaw(service.urls.root_url, rawRequest('GET /api/v1/auth/google', headers));
    const [page, cookies] = [answer?.headers.get('location') ?? '', answer?.headers.getSetCookie().length];
    if (where === 'the provider')
      expect([new URL(page).origin, cookies]).toEqual([service.urls.identity_provider_url, 1]);
    else expect([page, cookies]).toEqual([`${service.urls.dashboard_url}/dashboard/login`, 0]);
  });

  test('a start that was moved here from another name is one from another site for a browser', async () => {
    const headers = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Site: cross-site'];
    const answer = await sendRaw(service.urls.root_url, rawRequest('GET /api/v1/auth/google?moved=1', headers));
    expect(answer?.headers.get('location')).toBe(`${service.urls.dashboard_url}/dashboard/login`);
  });

  test.for([
    ['?prompt=select_account', 'select_account'],
    ['?prompt=none', null],
    ['?prompt=select_account&prompt=none', null],
    ['', null],
  ] as const)('a login that starts with the query "%s" sends the prompt %s', async ([query, prompt]) => {
    const answer = await client(service.urls.base_url).request('GET', `/auth/google${query}`);
    expect(new URL(answer.headers.get('location') ?? '').searchParams.get('prompt')).toBe(prompt);
  });

  test('logging in again with the same identity gives the same account with its files', async () => {
    const first = await service.newAccount('grace@example.com');
    await first.byKey.upload('kept.txt', 'kept');
    const again = await service.newAccount('grace@example.com');
    const { body: before } = await first.bySession.request('GET', '/auth/me');
    expect((await again.bySession.request('GET', '/auth/me')).body).toMatchObject({
      id: before.id,
      file_count: 1,
      storage_used_bytes: 4,
    });
  });
});

describe('contract: session', () => {
  test("a login ends the browser's previous session, of the same or another account, and also works after a logout", async () => {
    const jar = cookieJar();
    const home = new URL(service.urls.root_url);
    const inBrowser = async (email: string) => (await logIn({ startUrl: start(), email, jar })).cookies;
    const nameOf = async (cookie: string) =>
      (await client(service.urls.base_url, { cookie }).request('GET', '/auth/me')).body.email;
    const first = await inBrowser('ada@example.com');
    const second = await inBrowser('ada@example.com');
    expect([await nameOf(first), await nameOf(second)]).toEqual([undefined, 'ada@example.com']);
    const third = await inBrowser('grace@example.com');
    expect([await nameOf(second), await nameOf(third)]).toEqual([undefined, 'grace@example.com']);
    await client(service.urls.base_url, { cookie: third }).request('POST', '/auth/logout');
    expect(jar.header(home)).toContain('session=');
    expect(await nameOf(await inBrowser('alan@example.com'))).toBe('alan@example.com');
  });

  test('a callback without a valid state does not end a login attempt', async () => {
    const begun = await client(service.urls.base_url).request('GET', '/auth/google');
    const [cookie = ''] = begun.headers.getSetCookie()[0]?.split(';') ?? [];
    for (const query of ['?state=x', '', '?code=x']) {
      const stray = await client(service.urls.base_url, { cookie }).request('GET', `/auth/google/callback${query}`);
      expect(stray.headers.getSetCookie()).toEqual([]);
    }
  });

  test('the session cookie is HttpOnly and SameSite=Lax, and only its hash is stored', async () => {
    const { setCookies } = await logIn({ startUrl: start(), email: 'ada@example.com' });
    const [, token = ''] =
      /^session=([\w-]{43,}); Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/.exec(setCookies[0] ?? '') ?? [];
    expect(token).not.toBe('');
    const stored = await dynamoDbClient().send(new ScanCommand({ TableName: service.tables.sessions }));
    expect(stored.Items).not.toEqual([]);
    expect(JSON.stringify(stored.Items)).not.toContain(token);
  });

  test('logging out ends the session on the server', async () => {
    const { cookie, bySession } = await service.newAccount();
    const answer = await bySession.request('POST', '/auth/logout');
    expect([answer.status, answer.body]).toEqual([200, { logged_out: true }]);
    expect(answer.headers.getSetCookie().join()).toMatch(/session=;.*Max-Age=0/);
    const replay = await client(service.urls.base_url, { cookie }).request('GET', '/auth/me');
    expect([replay.status, replay.body]).toEqual([401, { error: 'unauthorized' }]);
  });

  test('logging out everywhere ends every session of the account, and none of other accounts', async () => {
    const email = 'everywhere@example.com';
    const [one, two] = [await service.newAccount(email), await service.newAccount(email)];
    const other = await service.newAccount();
    const answer = await one.bySession.request('DELETE', '/auth/sessions');
    expect([answer.status, answer.body]).toEqual([200, { logged_out: true }]);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=; .*Max-Age=0;/)]);
    const statuses = [one, two, other].map(
      async (account) => (await account.bySession.request('GET', '/auth/me')).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
    // API keys stay valid.
    expect((await one.byKey.request('GET', '/files')).status).toBe(200);
  });

  test('logging out everywhere that fails on the way leaves the session that asked, which repeats it', async () => {
    const email = 'again@example.com';
    const [one, two] = [await service.newAccount(email), await service.newAccount(email)];
    const other = createHash('sha256')
      .update(two.cookie.replace(/^session=/, ''))
      .digest('hex');
    const predicate = ({ input = {} }: FaultSubject) => JSON.stringify(input).includes(other);
    const match = { operation: 'DeleteItem', predicate };
    const end = () => one.bySession.request('DELETE', '/auth/sessions');
    expect((await withFault(service, { match, effect: 'error-before' }, end)).status).toBe(503);
    expect((await one.bySession.request('GET', '/auth/me')).status).toBe(200);
    expect((await end()).status).toBe(200);
    for (const { bySession } of [one, two]) expect((await bySession.request('GET', '/auth/me')).status).toBe(401);
  });

  test('each login creates a separate session', async () => {
    const [one, two] = [await service.newAccount('two@example.com'), await service.newAccount('two@example.com')];
    expect(one.cookie).not.toBe(two.cookie);
    await two.bySession.request('POST', '/auth/logout');
    expect((await one.bySession.request('GET', '/auth/me')).status).toBe(200);
  });
});

describe('contract: sessions of an account', () => {
  interface Listed {
    readonly items: { id: string; device: string; created_at: string; last_used_at: string; current: boolean }[];
  }
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  const UNKNOWN = '01900000-0000-7000-8000-000000000000';

  /** Logs the account in with another browser. */
  async function another({ email }: TestAccount, userAgent = FIREFOX) {
    const { cookies: cookie } = await logIn({ startUrl: start(), email, userAgent });
    return { cookie, bySession: client(service.urls.base_url, { cookie }) };
  }
  const listOf = async ({ bySession }: Pick<TestAccount, 'bySession'>) =>
    (await bySession.request<Listed>('GET', '/auth/sessions')).body.items;
  const idOf = async (account: Pick<TestAccount, 'bySession'>) =>
    String((await listOf(account)).find(({ current }) => current)?.id);
  const isLoggedIn = async ({ bySession }: Pick<TestAccount, 'bySession'>) =>
    (await bySession.request('GET', '/auth/me')).status === 200;
  const end = ({ bySession }: Pick<TestAccount, 'bySession'>, id: string) =>
    bySession.request('DELETE', `/auth/sessions/${id}`);

  /** Changes the row of a session, as time would. */
  async function changeRow(cookie: string, change: string, seconds: number) {
    const token_hash = { S: createHash('sha256').update(cookie.slice('session='.length)).digest('hex') };
    const command = new UpdateItemCommand({
      TableName: service.tables.sessions,
      Key: { token_hash },
      UpdateExpression: change,
      ...(change.includes(':at') && { ExpressionAttributeValues: { ':at': { N: String(seconds) } } }),
    });
    await dynamoDbClient().send(command);
  }

  test('the list shows each session with its device, and marks the one that asks', async () => {
    const account = await service.newAccount();
    const other = await another(account);
    const [newest, oldest, ...more] = await listOf(account);
    expect(more).toEqual([]);
    const times = { created_at: expect.stringMatching(/T.*Z$/), last_used_at: expect.stringMatching(/T.*Z$/) };
    const id = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect([newest, oldest].sort((one, two) => Number(one?.current) - Number(two?.current))).toEqual([
      { id, device: 'Firefox on Linux', ...times, current: false },
      { id, device: 'Unknown device', ...times, current: true },
    ]);
    expect(await idOf(other)).toBe([newest, oldest].find((session) => session?.current === false)?.id);
    expect(JSON.stringify(await listOf(account))).not.toContain(other.cookie.slice('session='.length));
  });

  test.for([
    ['markup', '<img src=x onerror=alert(1)>'],
    ['bytes that are not ASCII, and tabs', 'Fire\u00ff\tfox\u0085'],
    ['8,000 characters', 'x'.repeat(8_000)],
  ])('a login with a User-Agent of %s is a session of an unknown device', async ([, userAgent]) => {
    const account = await service.newAccount();
    await another(account, userAgent);
    expect((await listOf(account)).map(({ device }) => device)).toEqual(['Unknown device', 'Unknown device']);
  });

  test('the last use is noted at most once an hour, also of a session of an earlier version without a device', async () => {
    const account = await service.newAccount();
    const other = await another(account);
    const shown = async () => (await listOf(account)).find(({ current }) => !current);
    const now = Math.floor(Date.now() / 1_000);
    await changeRow(other.cookie, 'SET refreshed_at = :at REMOVE device', now - 3_500);
    await isLoggedIn(other);
    const noted = new Date((now - 3_500) * 1_000).toISOString();
    expect(await shown()).toMatchObject({ device: 'Unknown device', last_used_at: noted });
    await changeRow(other.cookie, 'SET refreshed_at = :at', now - 3_700);
    await isLoggedIn(other);
    expect(Date.parse((await shown())?.last_used_at ?? '')).toBeGreaterThanOrEqual(now * 1_000);
  });

  test('ending another session refuses it from the next request on, and a repetition is 404', async () => {
    const account = await service.newAccount();
    const [other, third] = [await another(account), await another(account)];
    const id = await idOf(other);
    const answer = await end(account, id.toUpperCase());
    expect([answer.status, answer.body, answer.headers.getSetCookie()]).toEqual([200, { id, deleted: true }, []]);
    expect(await Promise.all([account, other, third].map(isLoggedIn))).toEqual([true, false, true]);
    expect(await listOf(account)).toHaveLength(2);
    const repeated = await end(account, id);
    expect([repeated.status, repeated.body]).toEqual([404, { error: 'not_found' }]);
  });

  test('two simultaneous requests end one session, and never fail', async () => {
    const account = await service.newAccount();
    const other = await another(account);
    const id = await idOf(other);
    const statuses = (await Promise.all([end(account, id), end(account, id)])).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect([200, 404]).toEqual(expect.arrayContaining(statuses));
    expect(await isLoggedIn(other)).toBe(false);
  });

  test('a session that ends itself is logged out, and its cookie is removed', async () => {
    const account = await service.newAccount();
    const other = await another(account);
    const id = await idOf(account);
    const answer = await end(account, id);
    expect([answer.status, answer.body]).toEqual([200, { id, deleted: true }]);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=; .*Max-Age=0;/)]);
    expect(await Promise.all([account, other].map(isLoggedIn))).toEqual([false, true]);
  });

  test('a session that has expired is neither listed nor ended, although its row still exists', async () => {
    const account = await service.newAccount();
    const other = await another(account);
    const id = await idOf(other);
    await changeRow(other.cookie, 'SET expires_at = :at', Math.floor(Date.now() / 1_000));
    expect(await listOf(account)).toMatchObject([{ current: true }]);
    expect((await end(account, id)).status).toBe(404);
  });

  test("another account's session is 404 like an unknown one, and goes on", async () => {
    const [mine, theirs] = [await service.newAccount(), await service.newAccount()];
    const hash = createHash('sha256').update(mine.cookie.slice('session='.length)).digest('hex');
    for (const id of [await idOf(mine), UNKNOWN, hash, `account%23${mine.id}`, '%00', 'x'.repeat(2_000)]) {
      const answer = await end(theirs, id);
      expect([answer.status, answer.body]).toEqual([404, { error: 'not_found' }]);
    }
    expect(await isLoggedIn(mine)).toBe(true);
  });

  test('an API key can neither list nor end sessions', async () => {
    const account = await service.newAccount();
    const id = await idOf(account);
    for (const [method, path] of [
      ['GET', '/auth/sessions'],
      ['DELETE', `/auth/sessions/${id}`],
    ] as const) {
      const answer = await account.byKey.request(method, path);
      expect([answer.status, answer.body]).toEqual([401, { error: 'unauthorized' }]);
    }
    expect(await isLoggedIn(account)).toBe(true);
  });

  test("a page of another site cannot end a session, even if it knows the session's id", async () => {
    const account = await service.newAccount();
    const id = await idOf(account);
    for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }]) {
      const answer = await client(service.urls.base_url).request('DELETE', `/auth/sessions/${id}`, {
        headers: { cookie: account.cookie, ...headers },
      });
      expect([answer.status, answer.body]).toEqual([403, { error: 'forbidden' }]);
    }
    expect(await isLoggedIn(account)).toBe(true);
  });
});

describe('contract: cross-site', () => {
  test.for([
    ['our own Origin', 201, (origin: string) => ({ origin })],
    ['no Origin but a same-origin fetch', 201, () => ({ 'sec-fetch-site': 'same-origin' })],
    ['neither header', 403, () => ({})],
    ['a foreign Origin', 403, () => ({ origin: 'https://evil.example' })],
    ['an Origin that begins like ours', 403, (origin: string) => ({ origin: `${origin}.evil.example` })],
    ['the null Origin', 403, () => ({ origin: 'null' })],
    ['a same-site fetch', 403, () => ({ 'sec-fetch-site': 'same-site' })],
    [
      'a foreign Origin beside a same-origin fetch',
      403,
      () => ({ origin: 'https://e.example', 'sec-fetch-site': 'same-origin' }),
    ],
  ] as const)('a write with a cookie and %s is %i', async ([, status, headersFor]) => {
    const { cookie } = await service.newAccount();
    const { origin } = new URL(service.urls.base_url);
    const headers = { cookie, 'content-type': 'application/json', ...headersFor(origin) };
    const response = await fetch(`${service.urls.base_url}/api-keys`, {
      method: 'POST',
      headers,
      body: '{"name":"x"}',
    });
    expect(response.status).toBe(status);
  });

  test('the cookie is ignored when there is an Authorization header', async () => {
    const { cookie } = await service.newAccount();
    const headers = { cookie, origin: new URL(service.urls.base_url).origin, authorization: 'Bearer nonsense' };
    expect((await fetch(`${service.urls.base_url}/auth/me`, { headers })).status).toBe(401);
  });
});

describe('contract: me', () => {
  test('the profile shows who is logged in and how much they store', async () => {
    const { id, bySession, byKey, email } = await service.newAccount();
    await byKey.upload('a.bin', 'x'.repeat(1000));
    const { body } = await bySession.request('GET', '/auth/me');
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(body).toEqual({
      id,
      email,
      name: expect.any(String),
      picture_url: expect.toSatisfy((url) => url === null || URL.canParse(url)),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      storage_used_bytes: 1000,
      storage_limit_bytes: 2_147_483_648,
      file_count: 1,
    });
  });

  test("the profile shows the account's own storage limit", async () => {
    const { bySession, id } = await service.newAccount();
    await dynamoDbClient().send(
      new UpdateItemCommand({
        TableName: service.tables.accounts,
        Key: { id: { S: id } },
        UpdateExpression: 'SET storage_limit_bytes = :limit',
        ExpressionAttributeValues: { ':limit': { N: '5000' } },
      }),
    );
    expect((await bySession.request('GET', '/auth/me')).body).toMatchObject({ storage_limit_bytes: 5000 });
  });
});
