import { describe, expect, test } from 'vitest';
import { parseCookies } from '../../../shared/http/cookies.ts';
import { noSessionCookie, sessionCookie, sessionTokenIn } from '../../../shared/http/session-cookie.ts';

const HTTPS = 'https://app.example.org';
const HTTP = 'http://localhost:8787';

test.each([
  [HTTPS, '__Host-session=token; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'],
  [HTTP, 'session=token; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax'],
])('at %s a login sets %s', (appUrl, cookie) => {
  expect(sessionCookie('token', appUrl)).toBe(cookie);
});

test.each([
  [HTTPS, '__Host-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure'],
  [HTTP, 'session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'],
])('at %s a logout sets %s', (appUrl, cookie) => {
  expect(noSessionCookie(appUrl)).toBe(cookie);
});

describe('the token of a request', () => {
  test.each([
    [HTTPS, '__Host-session=mine', 'mine'],
    [HTTPS, 'session=planted', undefined],
    [HTTPS, 'session=planted; __Host-session=mine', 'mine'],
    [HTTPS, '__Host-session=mine; __Host-session=other', undefined],
    [HTTP, 'session=mine', 'mine'],
    [HTTP, '__Host-session=other', undefined],
  ])('at %s with the cookies %s is %s', (appUrl, header, token) => {
    expect(sessionTokenIn(parseCookies([header]), appUrl)).toBe(token);
  });
});
