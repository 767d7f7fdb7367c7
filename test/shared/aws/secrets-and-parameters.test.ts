import { afterEach, describe, expect, test, vi } from 'vitest';
import { startAws } from '../../support/aws.ts';

const { front, operations } = await startAws();
const { parameters, secrets } = front;
Object.assign(process.env, {
  APP_URL_PARAMETER: '/app-url',
  LOGIN_PROVIDER_PARAMETER: '/login-provider',
  LOGIN_CLIENT_SECRET: 'login',
  ORIGIN_SECRET: 'origin',
});

/** Loads the modules again, as a new process would. */
async function load() {
  vi.resetModules();
  const { appUrl, loginProvider } = await import('../../../shared/aws/parameters.ts');
  const { loginClientSecret, originSecret } = await import('../../../shared/aws/secrets.ts');
  const { isFromOurEdge } = await import('../../../shared/stack/viewer.ts');
  return { appUrl, loginClientSecret, loginProvider, originSecret, isFromOurEdge };
}

afterEach(() => void vi.useRealTimers());

describe('the address of the app', () => {
  test.each([
    ['https://app.example.org', 'https://app.example.org'],
    ['https://app.example.org/', 'https://app.example.org'],
    ['HTTPS://App.Example.org:443', 'https://app.example.org'],
    ['http://localhost:8787', 'http://localhost:8787'],
  ])('that is stored as %s is read as %s', async (stored, url) => {
    parameters['/app-url'] = stored;
    expect(await (await load()).appUrl()).toBe(url);
  });

  test('is read once in five minutes, so a domain that the operator changed is noticed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    parameters['/app-url'] = 'https://app.example.org';
    const { appUrl } = await load();
    await appUrl();
    parameters['/app-url'] = 'https://files.example.org';
    vi.setSystemTime(Date.now() + 5 * 60_000 - 1);
    expect(await appUrl()).toBe('https://app.example.org');
    expect(operations()).toEqual(['GetParameter']);
    vi.setSystemTime(Date.now() + 1);
    expect(await appUrl()).toBe('https://files.example.org');
  });

  test.each(['', 'app.example.org', 'javascript:alert(1)', '-'])('cannot be %j', async (stored) => {
    parameters['/app-url'] = stored;
    await expect((await load()).appUrl()).rejects.toThrow('parameter /app-url is not an address');
  });

  test('is service_unavailable while it cannot be read', async () => {
    front.faults.add({ match: {}, effect: 'throttle' });
    await expect((await load()).appUrl()).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('what an operator fills in', () => {
  test('is read as a JSON object, each under its own name', async () => {
    parameters['/login-provider'] = '{"client_id":"a"}';
    secrets.set('login', '{"client_secret":"b"}');
    secrets.set('origin', '{"a":"b"}');
    const { loginClientSecret, loginProvider, originSecret } = await load();
    expect(await loginProvider()).toMatchObject({ clientId: 'a' });
    expect(await loginClientSecret()).toBe('b');
    expect(await originSecret()).toEqual({ a: 'b' });
    await loginProvider();
    await loginClientSecret();
    expect(operations()).toEqual(['GetParameter', 'GetSecretValue', 'GetSecretValue']);
  });

  test.each([
    ['hunter2', 'it is not a JSON object'],
    ['"hunter2"', 'it is not a JSON object'],
    ['', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['{"a":hunter2}', 'it is not a JSON object'],
    ['{"client":"hunter2"}', 'it has no client_'],
  ])('that is %j is service_unavailable: the log has its name, and not its content', async (stored, what) => {
    secrets.set('login', stored);
    parameters['/login-provider'] = stored;
    const { loginClientSecret, loginProvider } = await load();
    for (const [read, named] of [
      [loginClientSecret, 'secret login'],
      [loginProvider, 'parameter /login-provider'],
    ] as const) {
      const error = await read().catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'service_unavailable' });
      expect(error.cause.message).toContain(`${named} is not filled in: ${what}`);
      expect(error.cause.message).not.toContain('hunter2');
      expect(error.cause.cause).toBeUndefined();
    }
  });

  test('is read again at once when it was not filled in', async () => {
    const { loginClientSecret } = await load();
    secrets.set('login', 'made up');
    await expect(loginClientSecret()).rejects.toMatchObject({ code: 'service_unavailable' });
    secrets.set('login', '{"client_secret":"b"}');
    expect(await loginClientSecret()).toBe('b');
  });

  test('is service_unavailable while it cannot be read', async () => {
    front.faults.add({ match: {}, effect: 'throttle' });
    await expect((await load()).originSecret()).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});

describe('a request from our edge', () => {
  const request = (secret: string) => ({ multiValueHeaders: { 'X-Origin-Secret': [secret] } }) as never;

  test('is recognised by the secret in either slot', async () => {
    secrets.set('origin', '{"a":"old","b":"new"}');
    const { isFromOurEdge } = await load();
    const known = await Promise.all(['new', 'old', 'other', ''].map((secret) => isFromOurEdge(request(secret))));
    expect(known).toEqual([true, true, false, false]);
  });

  test('is recognised a minute after the secret was changed, and wrong secrets cause no more reads of the secret', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    secrets.set('origin', '{"a":"old"}');
    const { isFromOurEdge } = await load();
    expect(await isFromOurEdge(request('old'))).toBe(true);
    secrets.set('origin', '{"a":"old","b":"new"}');
    vi.setSystemTime(Date.now() + 59_999);
    expect([await isFromOurEdge(request('new')), await isFromOurEdge(request('guess'))]).toEqual([false, false]);
    expect(operations()).toEqual(['GetSecretValue']);
    vi.setSystemTime(Date.now() + 1);
    expect([await isFromOurEdge(request('new')), await isFromOurEdge(request('guess'))]).toEqual([true, false]);
    expect(operations()).toEqual(['GetSecretValue', 'GetSecretValue']);
  });
});
