import { describe, expect, test } from 'vitest';
import { isCrossSiteWrite, isOwnName, isOwnStart } from '../../../shared/stack/cross-site.ts';

const OWN = 'https://example.org';
const request = (origin: string[], secFetchSite: string[]) => ({ origin, secFetchSite });

describe.each(['POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'post', 'get'])('a %s', (method) => {
  test.each([
    ['our own Origin', [OWN], []],
    ['our own Origin and Sec-Fetch-Site same-origin', [OWN], ['same-origin']],
    ['Sec-Fetch-Site same-origin alone', [], ['same-origin']],
  ])('is accepted with %s', (_, origin, secFetchSite) => {
    expect(isCrossSiteWrite(method, request(origin, secFetchSite), OWN)).toBe(false);
  });

  test.each([
    ['neither header', [], []],
    ['the Origin of another site', ['https://attacker.com'], []],
    ['the Origin of another site and Sec-Fetch-Site same-origin', ['https://attacker.com'], ['same-origin']],
    ['the Origin of a site whose name begins with ours', ['https://example.org.attacker.com'], []],
    ['the Origin of a site whose name ends with ours', ['https://notexample.org'], []],
    ['the Origin of a subdomain', ['https://files.example.org'], []],
    ['the Origin of the parent domain', ['https://org'], []],
    ['the Origin null of a sandboxed page', ['null'], []],
    ['the Origin null and Sec-Fetch-Site same-origin', ['null'], ['same-origin']],
    ['an empty Origin', [''], ['same-origin']],
    ['the Origin of the same host without TLS', ['http://example.org'], []],
    ['the Origin of the same host on another port', ['https://example.org:8443'], []],
    ['an Origin with the default port, which no browser writes', ['https://example.org:443'], []],
    ['an Origin in upper case, which no browser writes', ['HTTPS://Example.ORG'], []],
    ['an Origin with a slash at its end', ['https://example.org/'], []],
    ['an Origin with a user name', ['https://example.org@attacker.com'], []],
    ['an Origin after a space', [' https://example.org'], []],
    ['two origins in one header', ['https://example.org, https://attacker.com'], []],
    ['two Origin headers', [OWN, 'https://attacker.com'], []],
    ['our own Origin twice', [OWN, OWN], []],
    ['Sec-Fetch-Site cross-site', [], ['cross-site']],
    ['Sec-Fetch-Site same-site', [], ['same-site']],
    ['Sec-Fetch-Site none, from the address bar', [], ['none']],
    ['Sec-Fetch-Site Same-Origin, in upper case', [], ['Same-Origin']],
    ['two Sec-Fetch-Site headers', [], ['same-origin', 'same-origin']],
    ['our own Origin and Sec-Fetch-Site cross-site', [OWN], ['cross-site']],
    ['our own Origin and Sec-Fetch-Site same-site', [OWN], ['same-site']],
  ])('is rejected with %s', (_, origin, secFetchSite) => {
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

test.each<[string[], boolean]>([
  [[], true],
  [['same-origin'], true],
  [['none'], true],
  [['same-site'], false],
  [['cross-site'], false],
  [[''], false],
  [['none', 'none'], false],
])('a start of a login with the Sec-Fetch-Site %j is our own or that of the person: %s', (values, isOwn) => {
  expect(isOwnStart(values)).toBe(isOwn);
});

test.each([
  [undefined, true],
  ['example.org', true],
  ['EXAMPLE.ORG:8443', true],
  ['www.example.org', false],
  ['example.org@attacker.com', false],
  ['a b', false],
  ['', false],
])('the name %j in a browser is our own: %s', (name, isOwn) => {
  expect(isOwnName(name, OWN)).toBe(isOwn);
});
