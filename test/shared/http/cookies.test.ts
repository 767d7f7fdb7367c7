import { describe, expect, test } from 'vitest';
import {
  cookieName,
  noSessionCookie,
  parseCookies,
  sessionCookie,
  sessionTokenIn,
  setCookie,
  soleCookie,
} from '../../../shared/http/cookies.ts';

describe('the cookies of a request', () => {
  test.each([
    [['a=1'], [['a', '1']]],
    [
      ['a=1; b=2'],
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      ['a=1;b=2 ;  c=3'],
      [
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ],
    ],
    [
      ['a=1', 'b=2'],
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      ['a=1; a=2'],
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    [['a='], [['a', '']]],
    [['a=b=c'], [['a', 'b=c']]],
    [['__Host-session=x'], [['__Host-session', 'x']]],
    [['__proto__=x'], [['__proto__', 'x']]],
  ])('the headers %j have all their cookies, in order', (headers, expected) => {
    expect(parseCookies(headers).map(({ name, value }) => [name, value])).toEqual(expected);
  });

  test.each(['', ';', '; ;', 'a', '=a', ' =a', 'a b=1', 'a="1"', 'a=1,2', 'a=\\1', 'ä=1', 'a=ä', 'a=\u0001', 'a=1 2'])(
    'the header %j has no cookies',
    (header) => {
      expect(parseCookies([header])).toEqual([]);
    },
  );

  test('are found beside a malformed one', () => {
    expect(parseCookies(['"; session=x; a="b c"'])).toEqual([{ name: 'session', value: 'x' }]);
  });
});

test.each([
  ['a cookie that is sent once has its value', 'session=x; other=y', 'x'],
  ['a cookie that is not sent has no value', 'other=y', undefined],
  ['a cookie that is sent only in another letter case has no value', 'Session=x; SESSION=y', undefined],
  ['a cookie that is sent twice, because another site planted one, has no value', 'session=x; session=y', undefined],
  ['a cookie that is sent twice with one value has no value', 'session=x; session=x', undefined],
  ['a cookie has its own value when the name of another cookie begins with its name', 'session=x; session2=y', 'x'],
])('%s', (_, header, value) => {
  expect(soleCookie(parseCookies([header]), 'session')).toBe(value);
});

describe('a cookie is set', () => {
  test('a cookie is set for this host only, over TLS, hidden from scripts, and not sent with requests of other sites', () => {
    expect(setCookie({ name: '__Host-a', value: 'x' }, { maxAgeMs: 600_000, isSecure: true })).toBe(
      '__Host-a=x; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure',
    );
  });

  test('a cookie has no Secure where there is no TLS', () => {
    expect(setCookie({ name: 'a', value: '' }, { maxAgeMs: 0, isSecure: false })).toBe(
      'a=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    );
  });
});

test('a name binds the cookie to this host where browsers allow it', () => {
  expect([cookieName('a', true), cookieName('a', false)]).toEqual(['__Host-a', 'a']);
});

const HTTPS = 'https://app.example.org';
const HTTP = 'http://localhost:8787';

test.each([
  [HTTPS, '__Host-session=token; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure'],
  [HTTP, 'session=token; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax'],
])('at %s a login sets the cookie %s', (appUrl, cookie) => {
  expect(sessionCookie('token', appUrl)).toBe(cookie);
});

test.each([
  [HTTPS, '__Host-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure'],
  [HTTP, 'session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'],
])('at %s a logout sets the cookie %s', (appUrl, cookie) => {
  expect(noSessionCookie(appUrl)).toBe(cookie);
});

describe('the session token of a request', () => {
  test.each([
    ['is in the cookie __Host-session', HTTPS, '__Host-session=mine', 'mine'],
    ['is not in a cookie without __Host-, which another site can plant', HTTPS, 'session=planted', undefined],
    ['is in __Host-session also beside a planted cookie', HTTPS, 'session=planted; __Host-session=mine', 'mine'],
    ['is absent when there are two', HTTPS, '__Host-session=mine; __Host-session=other', undefined],
    ['is in the cookie session where there is no TLS', HTTP, 'session=mine', 'mine'],
    ['is not in __Host-session where there is no TLS', HTTP, '__Host-session=other', undefined],
  ])('%s', (_name, appUrl, header, token) => {
    expect(sessionTokenIn(parseCookies([header]), appUrl)).toBe(token);
  });
});
