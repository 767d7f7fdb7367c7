import { describe, expect, test } from 'vitest';
import type { CacheBehavior } from '../../../local-aws/cloudfront/distribution.ts';
import { behaviorFor, normalPath } from '../../../local-aws/cloudfront/path-patterns.ts';

const PATTERNS = ['dashboard/*', '/images/?.png', '*.css', 'a.b/*', '*'];

function match(path: string): string {
  const behaviors = PATTERNS.map((pathPattern) => ({ pathPattern }) as CacheBehavior);
  return behaviorFor(path, behaviors).pathPattern;
}

describe('the first matching pattern decides', () => {
  test.each([
    ['/dashboard/', 'dashboard/*'],
    ['/dashboard/a/b.css', 'dashboard/*'],
    ['/dashboard', '*'],
    ['/Dashboard/x', '*'],
    ['/x/dashboard/y', '*'],
    ['/images/1.png', '/images/?.png'],
    ['/images/12.png', '*'],
    ['/x/y.css', '*.css'],
    ['/a.b/x', 'a.b/*'],
    ['/aXb/x', '*'],
    ['/', '*'],
    ['/%64ashboard/x', 'dashboard/*'],
    ['/api/../dashboard/x', 'dashboard/*'],
    ['/dashboard/../api', '*'],
    ['//dashboard//x', 'dashboard/*'],
    ['/dashboard%2Fx', '*'],
  ])('the path %s has the pattern %s', (path, pattern) => {
    expect(match(path)).toBe(pattern);
  });
});

test.each([
  ['/a/b/../c', '/a/c'],
  ['/a/./b/', '/a/b/'],
  ['/a/..', '/'],
  ['/../..', '/'],
  ['/a/b/..', '/a/'],
  ['/%7euser/%c3%a9', '/~user/%C3%A9'],
  ['///', '/'],
])('the normal form of %s is %s', (path, normal) => {
  expect(normalPath(path)).toBe(normal);
});
