import { describe, expect, test } from 'vitest';
import { isCrossSiteWrite } from '../../../shared/stack/cross-site.ts';

const OWN = 'https://example.org';
const request = (origin: string[], secFetchSite: string[]) => ({ origin, secFetchSite });

describe.each(['POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'post', 'get'])('a %s', (method) => {
  test.each([
    ['our own origin', [OWN], []],
    ['our own origin, and the browser agrees', [OWN], ['same-origin']],
    ['the browser alone', [], ['same-origin']],
  ])('is ours by %s', (_, origin, secFetchSite) => {
    expect(isCrossSiteWrite(method, request(origin, secFetchSite), OWN)).toBe(false);
  });

  test.each([
    ['neither header', [], []],
    ['another site', ['https://attacker.com'], []],
    ['another site, with a fetch header that is ours', ['https://attacker.com'], ['same-origin']],
    ['a site whose name begins with ours', ['https://example.org.attacker.com'], []],
    ['a site whose name ends with ours', ['https://notexample.org'], []],
    ['a subdomain', ['https://files.example.org'], []],
    ['the parent domain', ['https://org'], []],
    ['no site (a sandboxed page)', ['null'], []],
    ['no site, with a fetch header that is ours', ['null'], ['same-origin']],
    ['an empty origin', [''], ['same-origin']],
    ['the same host without TLS', ['http://example.org'], []],
    ['the same host on another port', ['https://example.org:8443'], []],
    ['the default port spelled out, as no browser does', ['https://example.org:443'], []],
    ['odd casing, as no browser writes', ['HTTPS://Example.ORG'], []],
    ['a trailing slash', ['https://example.org/'], []],
    ['a user name', ['https://example.org@attacker.com'], []],
    ['surrounding space', [' https://example.org'], []],
    ['two origins in one header', ['https://example.org, https://attacker.com'], []],
    ['two origin headers', [OWN, 'https://attacker.com'], []],
    ['the same origin twice', [OWN, OWN], []],
    ['a page of another site', [], ['cross-site']],
    ['a page of a neighbour', [], ['same-site']],
    ['the address bar', [], ['none']],
    ['an odd fetch header', [], ['Same-Origin']],
    ['two fetch headers', [], ['same-origin', 'same-origin']],
    ['our origin, which the browser denies', [OWN], ['cross-site']],
    ['our origin, which the browser calls a neighbour', [OWN], ['same-site']],
  ])('is foreign from %s', (_, origin, secFetchSite) => {
    expect(isCrossSiteWrite(method, request(origin, secFetchSite), OWN)).toBe(true);
  });
});

test.each(['GET', 'HEAD'])('a %s changes nothing and may come from anywhere', (method) => {
  expect(isCrossSiteWrite(method, request(['https://attacker.com'], ['cross-site']), OWN)).toBe(false);
});

test('the port is part of the origin', () => {
  const own = 'http://localhost:8787';
  expect(isCrossSiteWrite('POST', request([own], []), own)).toBe(false);
  expect(isCrossSiteWrite('POST', request(['http://localhost:8788'], []), own)).toBe(true);
  expect(isCrossSiteWrite('POST', request(['http://127.0.0.1:8787'], []), own)).toBe(true);
});
