import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logIn } from '../../../local-aws/identity-provider/log-in.ts';
import {
  type IdentityProvider,
  startIdentityProvider,
} from '../../../local-aws/identity-provider/start-identity-provider.ts';
import { parseCookies, sessionTokenIn } from '../../../shared/http/cookies.ts';
import { finishLogin } from '../../../shared/login/finish-login.ts';
import { parseLoginProvider } from '../../../shared/login/provider.ts';
import { startLogin } from '../../../shared/login/start-login.ts';
import { findSession } from '../../../shared/sessions/session.ts';
import { accounts, sessions } from './logging-in.ts';

/** The app, with nothing but a login. */
const app = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', appUrl());
  const cookies = parseCookies([request.headers.cookie ?? '']);
  const parameters = Object.fromEntries(
    [...url.searchParams.keys()].map((name) => [name, url.searchParams.getAll(name)]),
  );
  const login =
    url.pathname === '/api/v1/auth/google'
      ? startLogin({ provider: setting().provider, appUrl: appUrl(), cookies })
      : await finishLogin(setting(), { parameters, cookies });
  response.writeHead(302, { location: login.location, 'set-cookie': [...login.cookies] }).end();
});

let identityProvider: IdentityProvider;
const appUrl = () => `http://localhost:${(app.address() as AddressInfo).port}`;
const setting = () => ({
  provider: parseLoginProvider({
    client_id: 'file-hosting',
    client_secret: 'local-secret',
    issuer: identityProvider.issuer,
    authorization_endpoint: identityProvider.authorizationEndpoint,
    token_endpoint: identityProvider.tokenEndpoint,
    jwks_uri: identityProvider.jwksUri,
  }),
  appUrl: appUrl(),
  allowed: { domains: [], emails: ['everyone'] },
  accounts,
  sessions,
});
const logInAs = (email: string, choice: 'continue' | 'cancel' = 'continue') =>
  logIn({ startUrl: `${appUrl()}/api/v1/auth/google`, email, choice });

beforeAll(async () => {
  app.listen(0, 'localhost');
  await once(app, 'listening');
  identityProvider = await startIdentityProvider({
    clientId: 'file-hosting',
    clientSecret: 'local-secret',
    redirectUris: [`${appUrl()}/api/v1/auth/google/callback`],
  });
});

afterAll(async () => {
  await identityProvider.close();
  app.closeAllConnections();
  app.close();
});

test('a person who logs in at a real provider has a session and an account', async () => {
  const { cookies, location } = await logInAs('ada.lovelace@example.org');
  expect(location).toBe(`${appUrl()}/dashboard`);
  expect(cookies).not.toContain('login-');
  const token = sessionTokenIn(parseCookies([cookies]), appUrl());
  const session = await findSession(sessions, token ?? '');
  expect(await accounts.get(session?.accountId ?? '')).toMatchObject({
    email: 'ada.lovelace@example.org',
    name: 'Ada Lovelace',
    pictureUrl: `${identityProvider.issuer}/picture/ada.lovelace%40example.org.svg`,
  });
});

test.each([
  ['cancels', 'ada@example.org', 'cancel', 'access_denied'],
  ['has no verified address', 'unverified.bob@example.org', 'continue', 'email_not_verified'],
] as const)('a person who %s sees that on the login page, and keeps no cookie', async (_, email, choice, code) => {
  expect(await logInAs(email, choice)).toMatchObject({
    cookies: '',
    location: `${appUrl()}/dashboard/login?error=${code}`,
  });
});
