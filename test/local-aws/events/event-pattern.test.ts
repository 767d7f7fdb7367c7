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
  ])('%j matches the event: %s', (pattern, expected) => {
    expect(readEventPattern(pattern as EventPattern)(EVENT)).toBe(expected);
  });

  test.each([{ wildcard: 'a*' }, { suffix: '.png' }, { exists: true }])(
    'with the unknown condition %j is an error',
    (condition) => {
      expect(() => readEventPattern(key(condition) as EventPattern)).toThrow(JSON.stringify(condition));
    },
  );
});
