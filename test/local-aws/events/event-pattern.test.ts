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

describe('an event pattern', () => {
  test.each([
    ['without fields matches', {}, true],
    ['with the value of a field matches', { source: ['aws.s3'] }, true],
    ['with the value of a field among others matches', { source: ['aws.ec2', 'aws.s3'] }, true],
    ['with the beginning of a value does not match', { source: ['aws'] }, false],
    ['does not match when one of its fields does not', { source: ['aws.s3'], count: [4] }, false],
    ['with a number matches', { count: [3] }, true],
    ['with a number as text does not match', { count: ['3'] }, false],
    ['with null for a field that is null matches', { none: [null] }, true],
    ['with null for a field that is absent does not match', { missing: [null] }, false],
    ['with an item of a list matches', { tags: ['b'] }, true],
    ['with a text that is no item of a list does not match', { tags: ['c'] }, false],
    ['with a field below a text does not match', { source: { below: ['x'] } }, false],
    ['with the value of a nested field matches', { detail: { bucket: { name: ['uploads'] } } }, true],
    ['with another value of a nested field does not match', { detail: { bucket: { name: ['other'] } } }, false],
    ['with a prefix of a value matches', key({ prefix: 'incoming/' }), true],
    ['with another prefix does not match', key({ prefix: 'uploads/' }), false],
    ['with two prefixes matches when one of them does', key({ prefix: 'uploads/' }, { prefix: 'incoming/' }), true],
  ])('%s', (_name, pattern, expected) => {
    expect(readEventPattern(pattern as EventPattern)(EVENT)).toBe(expected);
  });

  test.each([
    ['wildcard', { wildcard: 'a*' }],
    ['suffix', { suffix: '.png' }],
    ['exists', { exists: true }],
  ])('with the condition %s, which the local AWS does not know, is an error', (_name, condition) => {
    expect(() => readEventPattern(key(condition) as EventPattern)).toThrow(JSON.stringify(condition));
  });
});
