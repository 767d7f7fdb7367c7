import { describe, expect, test } from 'vitest';
import type { Cookie } from '../../../shared/http/cookies.ts';
import { begin, forging } from './logging-in.ts';

describe('starting a login', () => {
  test('redirects the browser to the provider with state, PKCE S256 and nonce', () => {
    const { location } = begin();
    expect(location.split('?')[0]).toBe(forging.provider.authorizationEndpoint);
    expect(Object.fromEntries(new URL(location).searchParams)).toEqual({
      response_type: 'code',
      client_id: 'our-client',
      redirect_uri: 'https://app.example.org/api/v1/auth/google/callback',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      nonce: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(location).not.toContain('our-secret');
  });

  test.each([
    [
      'https://app.example.org',
      /^__Host-login-[0-9a-f]{16}=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    ],
    ['http://localhost:8787', /^login-[0-9a-f]{16}=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/],
  ])('a login that starts at %s keeps the attempt in a cookie of ten minutes', (appUrl, cookie) => {
    const { setCookies } = begin({ appUrl });
    expect(setCookies).toEqual([expect.stringMatching(cookie)]);
    expect(setCookies[0]).not.toContain('session');
  });

  test('never uses a state, nonce, challenge or cookie twice', () => {
    const [a, b] = [begin(), begin()];
    const all = [a.state, a.nonce, a.challenge, b.state, b.nonce, b.challenge, ...a.setCookies, ...b.setCookies];
    expect(new Set(all).size).toBe(8);
  });

  test('leaves only the five newest attempts open when it happens many times', () => {
    const states: string[] = [];
    let cookies: Cookie[] = [{ name: 'other', value: 'x' }];
    for (let i = 0; i < 8; i++) {
      const started = begin({ cookies });
      states.push(started.state);
      cookies = started.cookies;
    }
    expect(cookies.map(({ value }) => value.split('.')[0])).toEqual(['x', ...states.slice(-5)]);
  });
});
