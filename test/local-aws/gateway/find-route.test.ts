import { describe, expect, test } from 'vitest';
import { findRoute } from '../../../local-aws/gateway/find-route.ts';
import { type ApiResource, readRestApis } from '../../../local-aws/gateway/rest-api.ts';
import { deploy, lambdaFunction } from '../assembly-fixture.ts';
import { restApi } from './gateway-fixture.ts';

async function rootOf(...routes: string[]): Promise<ApiResource> {
  const resources = restApi(Object.fromEntries(routes.map((route) => [route, 'F'])));
  const [api] = readRestApis(await deploy({ F: lambdaFunction('code'), ...resources }, { code: { 'index.js': '' } }));
  if (!api) throw new Error('no API');
  return api.root;
}

/** Finds the route of a request. @returns its path and parameters, such as `/users/{id} {"id":"7"}`, or `nothing`. */
function found(root: ApiResource, request: string): string {
  const [method = '', path = ''] = request.split(' ');
  const route = findRoute(root, method, path);
  return route ? `${route.resource.path} ${JSON.stringify(route.pathParameters)}` : 'nothing';
}

describe('a route of literal, parameter and greedy parts', async () => {
  const root = await rootOf(
    'GET /',
    'GET /users/{userId}',
    'PATCH /users/me',
    'POST /roles/provision',
    'GET /roles/{roleId}',
    'GET /things/real',
    'ANY /things/{proxy+}',
    'GET /jobs/{job}',
    'GET /jobs/{job}/result',
    'ANY /files',
  );
  // The first rows are what others measured on AWS (see findRoute).
  test.each([
    ['GET /users/me', '/users/{userId} {"userId":"me"}'],
    ['PATCH /users/me', '/users/me {}'],
    ['POST /users/me', 'nothing'],
    ['POST /roles/provision', '/roles/provision {}'],
    ['GET /roles/provision', '/roles/{roleId} {"roleId":"provision"}'],
    ['GET /things/real', '/things/real {}'],
    ['POST /things/real', '/things/{proxy+} {"proxy":"real"}'],
    ['GET /things/a/b/c', '/things/{proxy+} {"proxy":"a/b/c"}'],
    ['GET /things', 'nothing'],
    ['GET /jobs', 'nothing'],
    ['GET /jobs/7/result', '/jobs/{job}/result {"job":"7"}'],
    ['GET /jobs/7/other', 'nothing'],
    ['DELETE /files', '/files {}'],
    ['GET /', '/ {}'],
    ['GET /users/a%20b%2Fc', '/users/{userId} {"userId":"a%20b%2Fc"}'],
    ['GET /users/%E4', '/users/{userId} {"userId":"%E4"}'],
    ['GET /users/{userId}', '/users/{userId} {"userId":"{userId}"}'],
  ])('%s goes to %s', (request, expected) => {
    expect(found(root, request)).toBe(expected);
  });
});

test('a catch-all at the root takes each request that no other method answers, but not those to the root itself', async () => {
  const root = await rootOf('ANY /{proxy+}', 'GET /files/{id}', 'OPTIONS /cors');
  expect(found(root, 'GET /files/7')).toBe('/files/{id} {"id":"7"}');
  expect(found(root, 'POST /files/7')).toBe('/{proxy+} {"proxy":"files/7"}');
  expect(found(root, 'GET /files')).toBe('/{proxy+} {"proxy":"files"}');
  expect(found(root, 'GET /cors')).toBe('/{proxy+} {"proxy":"cors"}');
  expect(found(root, 'GET /')).toBe('nothing');
});
