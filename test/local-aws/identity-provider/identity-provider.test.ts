import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CodeChallengeMethod, generateCodeVerifier, OAuth2Client, OAuth2RequestError } from 'arctic';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { cookieJar } from '../../../local-aws/identity-provider/cookie-jar.ts';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../../../local-aws/identity-provider/start-identity-provider.ts';

const CLIENT = { clientId: 'file-hosting', clientSecret: 'local-secret' };
const SCOPES = ['openid', 'email', 'profile'];

/** A service that can only log in. It keeps the verifier in a cookie, and its callback adds it to the query of the next page. */
const service = createServer((request, response) => {
  const url = new URL(request.url ?? '/', callbackOrigin());
  const cookies = new URLSearchParams(request.headers.cookie?.replaceAll('; ', '&'));
  if (url.pathname === '/start') {
    const verifier = generateCodeVerifier();
    const authorization = authorizationUrl({ state: 'state-1', verifier });
    response
      .writeHead(302, {
        location: authorization.href,
        'set-cookie': [`verifier=${verifier}; Path=/; HttpOnly`, 'attempt=1; Path=/callback'],
      })
      .end();
  } else if (url.pathname === '/callback') {
    url.searchParams.append('verifier', cookies.get('verifier') ?? '');
    const session = ['verifier=; Path=/; Max-Age=0', 'session=s1; Path=/'];
    response.writeHead(302, { location: `/dashboard${url.search}`, 'set-cookie': session }).end();
  } else {
    response.writeHead(404).end('{"error":"not_found"}');
  }
});

let provider: IdentityProvider;

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, 'localhost', resolve));
  const notices = [vi.spyOn(console, 'info'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'error')];
  provider = await startIdentityProvider({ ...CLIENT, redirectUris: [`${callbackOrigin()}/callback`] });
  for (const notice of notices) expect(notice).not.toHaveBeenCalled();
});

afterAll(async () => {
  await provider.close();
  service.closeAllConnections();
  service.close();
});

function callbackOrigin(): string {
  return `http://localhost:${(service.address() as AddressInfo).port}`;
}

function client(secret = CLIENT.clientSecret): OAuth2Client {
  return new OAuth2Client(CLIENT.clientId, secret, `${callbackOrigin()}/callback`);
}

function authorizationUrl({ state, verifier }: { state: string; verifier: string }): URL {
  const url = client().createAuthorizationURLWithPKCE(
    provider.authorizationEndpoint,
    state,
    CodeChallengeMethod.S256,
    verifier,
    SCOPES,
  );
  url.searchParams.set('nonce', 'nonce-1');
  return url;
}

/** The callback's parameters, and the verifier that belongs to them. */
async function callback(email: string, choice?: 'cancel'): Promise<URLSearchParams> {
  const { location } = await logIn({ startUrl: `${callbackOrigin()}/start`, email, ...(choice && { choice }) });
  return new URL(location, callbackOrigin()).searchParams;
}

async function idToken(email: string): Promise<string> {
  const parameters = await callback(email);
  const [code, verifier] = [parameters.get('code') ?? '', parameters.get('verifier') ?? ''];
  return (await client().validateAuthorizationCode(provider.tokenEndpoint, code, verifier)).idToken();
}

async function claims(email: string) {
  const keys = createRemoteJWKSet(new URL(provider.jwksUri));
  const { payload, protectedHeader } = await jwtVerify(await idToken(email), keys, {
    issuer: provider.issuer,
    audience: CLIENT.clientId,
    algorithms: ['RS256'],
  });
  return { ...payload, alg: protectedHeader.alg };
}

describe('a login', () => {
  test('gives a signed token with nonce and profile, by the code flow with PKCE and HTTP Basic', async () => {
    expect(await claims('Ada.Lovelace@Example.com ')).toMatchObject({
      alg: 'RS256',
      nonce: 'nonce-1',
      sub: expect.stringMatching(/^\d{21}$/),
      email: 'ada.lovelace@example.com',
      email_verified: true,
      name: 'Ada Lovelace',
      picture: `${provider.issuer}/picture/ada.lovelace%40example.com.svg`,
    });
  });

  test('gives each user a subject of their own, the same each time', async () => {
    const subjects = await Promise.all(
      ['a@x.org', 'A@x.org', 'b@x.org'].map(async (email) => (await claims(email)).sub),
    );
    expect(subjects[0]).toBe(subjects[1]);
    expect(subjects[0]).not.toBe(subjects[2]);
  });

  test('returns the state, and Cancel returns access_denied', async () => {
    expect(Object.fromEntries(await callback('a@x.org'))).toMatchObject({
      state: 'state-1',
      code: expect.any(String),
      iss: provider.issuer,
    });
    expect(Object.fromEntries(await callback('', 'cancel'))).toMatchObject({
      state: 'state-1',
      error: 'access_denied',
    });
  });

  test('a login with a text that is no e-mail address shows the form again', async () => {
    const startUrl = `${callbackOrigin()}/start`;
    await expect(logIn({ startUrl, email: 'nobody' })).rejects.toThrow(/400 .*That is not an e-mail address/s);
  });
});

describe('the provider refuses', () => {
  async function exchange(change: { code?: string; verifier?: string; secret?: string }): Promise<unknown> {
    const parameters = await callback('a@x.org');
    const code = change.code ?? parameters.get('code') ?? '';
    const verifier = change.verifier ?? parameters.get('verifier') ?? '';
    return client(change.secret)
      .validateAuthorizationCode(provider.tokenEndpoint, code, verifier)
      .catch((error) => error);
  }

  test.each([
    ['another verifier', { verifier: generateCodeVerifier() }, 'invalid_grant'],
    ['another code', { code: randomBytes(32).toString('base64url') }, 'invalid_grant'],
    ['another secret', { secret: 'guess' }, 'invalid_client'],
  ])('%s', async (_name, change, code) => {
    const error = await exchange(change);
    expect(error).toBeInstanceOf(OAuth2RequestError);
    expect(error).toMatchObject({ code });
  });

  test('a code that was redeemed before', async () => {
    const parameters = await callback('a@x.org');
    const redeem = () =>
      client().validateAuthorizationCode(
        provider.tokenEndpoint,
        parameters.get('code') ?? '',
        parameters.get('verifier') ?? '',
      );
    await redeem();
    await expect(redeem()).rejects.toMatchObject({ code: 'invalid_grant' });
  });

  test('an authorization without PKCE', async () => {
    const url = authorizationUrl({ state: 's', verifier: generateCodeVerifier() });
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.headers.get('location')).toContain('error=invalid_request');
  });

  test('a callback that is not registered, without a redirect to it', async () => {
    const url = authorizationUrl({ state: 's', verifier: generateCodeVerifier() });
    url.searchParams.set('redirect_uri', 'http://localhost:1/callback');
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('redirect_uri');
  });

  test('the form of an unknown login', async () => {
    const response = await fetch(`${provider.issuer}/login/guess`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'a@x.org' }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('This login is over');
  });
});

describe('the form', () => {
  test('is one plain form with an e-mail field and no script', async () => {
    const first = await fetch(authorizationUrl({ state: 's', verifier: generateCodeVerifier() }), {
      redirect: 'manual',
    });
    const cookie = first.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const page = await (
      await fetch(new URL(first.headers.get('location') ?? '', provider.issuer), { headers: { cookie } })
    ).text();
    expect(page.match(/<form/g)).toHaveLength(1);
    expect(page).toMatch(/<input type="email" name="email"/);
    expect(page).not.toMatch(/<script|<link|style=/);
  });

  test('comes at each login, even in a browser that has just logged in, because the next user may be another', async () => {
    const jar = cookieJar();
    const visit = async (target: URL, form?: URLSearchParams) => {
      const headers = { cookie: jar.header(target) };
      const response = await fetch(target, {
        redirect: 'manual',
        headers,
        ...(form && { method: 'POST', body: form }),
      });
      jar.store(target, response);
      return new URL(response.headers.get('location') ?? target, target);
    };
    const authorization = authorizationUrl({ state: 's', verifier: generateCodeVerifier() });
    const form = await visit(authorization);
    const resumed = await visit(form, new URLSearchParams({ email: 'a@x.org' }));
    expect((await visit(resumed)).searchParams.has('code')).toBe(true);
    expect((await visit(authorization)).pathname).toMatch(/^\/login\//);
  });
});

test.each([
  ['ada%40example.com', 'A'],
  ['%C3%BC%40example.com', 'Ü'],
  ['%3Cscript%3E%40example.com', '&lt;'],
])('the picture of %s is an image with the letter %s', async (address, letter) => {
  const response = await fetch(`${provider.issuer}/picture/${address}.svg`);
  expect(response.headers.get('content-type')).toBe('image/svg+xml');
  expect(await response.text()).toContain(`>${letter}</text>`);
});

describe('the login helper', () => {
  test('says where it stops', async () => {
    await expect(logIn({ startUrl: `${callbackOrigin()}/gone`, email: 'a@x.org' })).rejects.toThrow(
      /\/gone: 404 .*not_found/,
    );
  });
});

test('a closed provider answers no request', async () => {
  const other = await startIdentityProvider({ ...CLIENT, redirectUris: ['http://localhost:1/callback'] });
  await fetch(other.jwksUri);
  await other.close();
  await expect(fetch(other.jwksUri)).rejects.toThrow();
});
