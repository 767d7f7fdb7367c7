import type { FunctionRequest } from 'cloudfront';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { edgeFunction, summary, viewerRequestEvent } from '../../support/run-edge-function.ts';

const cdn = edgeFunction('cdn-viewer-request.js');
const TOKEN = 'aB3dE6gH9jK2mN5pQ8sT1v';
const OBJECT = `/uploads/${TOKEN} from the origin default`;
const NOT_FOUND = '404 {"error":"not_found"}';

test.each([
  ['GET', `/uploads/${TOKEN}/photo.jpg`, OBJECT],
  ['HEAD', `/uploads/${TOKEN}/photo.jpg`, OBJECT],
  ['GET', `/uploads/${TOKEN}/%E2%98%83%2F..%00`, OBJECT],
  ['GET', `/uploads/${TOKEN}`, OBJECT],
  ['GET', `/uploads/${TOKEN}/`, OBJECT],
  ['GET', `/uploads/${TOKEN}/a/b`, NOT_FOUND],
  ['GET', `/uploads/${TOKEN}//`, NOT_FOUND],
  ['GET', `/uploads/${TOKEN.slice(1)}/photo.jpg`, NOT_FOUND],
  ['GET', `/uploads/${TOKEN}-x/photo.jpg`, NOT_FOUND],
  ['GET', `/uploads/${'a'.repeat(65)}/photo.jpg`, NOT_FOUND],
  ['GET', `/incoming/${TOKEN}`, NOT_FOUND],
  ['GET', `//uploads/${TOKEN}`, NOT_FOUND],
  ['GET', `/uploads/../incoming/${TOKEN}`, NOT_FOUND],
  ['GET', '/', NOT_FOUND],
  ['POST', '/', NOT_FOUND],
  ['PUT', `/uploads/${TOKEN}/photo.jpg`, '405 {"error":"method_not_allowed"}'],
  ['OPTIONS', `/uploads/${TOKEN}/photo.jpg`, '204 undefined'],
  ['OPTIONS', '/', NOT_FOUND],
])('%s %s gets %s', (method, uri, expected) => {
  expect(summary(cdn.run(viewerRequestEvent(method, uri)))).toBe(expected);
});

test('the query is removed, so that it can neither bypass the cache nor reach S3', () => {
  const event = viewerRequestEvent('GET', `/uploads/${TOKEN}/a.html`);
  event.request.querystring = { 'response-content-type': { value: 'text/html' } };
  expect(cdn.run(event).result).toHaveProperty('querystring', {});
});

test('If-Match and If-Unmodified-Since do not reach S3, which would answer with XML', () => {
  const conditions = { 'if-match': '"1"', 'if-unmodified-since': 'Sun, 22 Nov 2026 08:00:00 GMT' };
  const event = viewerRequestEvent('GET', `/uploads/${TOKEN}/a`, { ...conditions, 'if-none-match': '"2"' });
  expect(cdn.run(event).result).toMatchObject({ headers: { 'if-none-match': { value: '"2"' } } });
  for (const name of Object.keys(conditions)) expect(cdn.run(event).result).not.toHaveProperty(['headers', name]);
});

test.each([
  ['document', {}],
  ['iframe', {}],
  ['image', { 'if-none-match': { value: '"2"' } }],
  ['script', { 'if-none-match': { value: '"2"' } }],
])('for the destination %s the conditions that reach the cache are %j', (destination, expected) => {
  const sent = { 'if-none-match': '"2"', 'sec-fetch-dest': destination };
  const { headers } = cdn.run(viewerRequestEvent('GET', `/uploads/${TOKEN}/a`, sent)).result as FunctionRequest;
  const { 'if-none-match': condition } = headers;
  expect({ ...(condition && { 'if-none-match': condition }) }).toEqual(expected);
});

test('a 405 lists the allowed methods', () => {
  expect(cdn.run(viewerRequestEvent('DELETE', `/uploads/${TOKEN}`)).result).toMatchObject({
    headers: { allow: { value: 'GET, HEAD, OPTIONS' }, 'content-type': { value: 'application/json' } },
  });
});

test('the function never throws, and never forwards a path outside uploads/', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('GET', 'PUT'),
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `/uploads/${text}`),
      ),
      (method, uri) => {
        expect(summary(cdn.run(viewerRequestEvent(method, uri)))).toMatch(
          /^(404|405) |^\/uploads\/[0-9A-Za-z]+ from the origin default$/,
        );
      },
    ),
    { numRuns: 1_000 },
  );
});
