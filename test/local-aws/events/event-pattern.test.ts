import { describe, expect, test } from 'vitest';
import { type EventPattern, readEventPattern } from '../../../local-aws/events/event-pattern.ts';

const EVENT = {
  source: 'aws.s3',
  count: 3,
  none: null,
  tags: ['a', 'b'],
  detail: { bucket: { name: 'uploads' }, object: { key: 'incoming/Token.PNG' } },
};
const key = (...matchers: unknown[]) => ({ detail: { object: { key: matchers } } });

describe('a pattern', () => {
  test.each([
    [{}, true],
    [{ source: ['aws.s3'] }, true],
    [{ source: ['aws.ec2', 'aws.s3'] }, true],
    [{ source: ['aws'] }, false],
    [{ source: ['aws.s3'], count: [4] }, false],
    [{ count: [3] }, true],
    [{ count: ['3'] }, false],
    [{ none: [null] }, true],
    [{ missing: [null] }, false],
    [{ tags: ['b'] }, true],
    [{ tags: ['c'] }, false],
    [{ source: { below: ['x'] } }, false],
    [{ detail: { bucket: { name: ['uploads'] } } }, true],
    [{ detail: { bucket: { name: ['other'] } } }, false],
    [key({ prefix: 'incoming/' }), true],
    [key({ prefix: 'uploads/' }), false],
    [key({ prefix: 'uploads/' }, { prefix: 'incoming/' }), true],
    [key({ suffix: '.PNG' }), true],
    [key({ suffix: '.png' }), false],
    [key({ 'equals-ignore-case': 'INCOMING/TOKEN.png' }), true],
    [key({ 'anything-but': ['a', 'b'] }), true],
    [key({ 'anything-but': 'incoming/Token.PNG' }), false],
    [key({ 'anything-but': { prefix: 'incoming/' } }), false],
    [key({ exists: true }), true],
    [{ missing: [{ exists: false }] }, true],
    [{ missing: [{ exists: true }] }, false],
    [{ missing: [{ 'anything-but': 'x' }] }, false],
  ])('%j: %s', (pattern, expected) => {
    expect(readEventPattern(pattern as EventPattern)(EVENT)).toBe(expected);
  });

  test('with a condition that is not known is an error', () => {
    expect(() => readEventPattern(key({ wildcard: 'a*' }) as EventPattern)).toThrow('{"wildcard":"a*"}');
  });
});
