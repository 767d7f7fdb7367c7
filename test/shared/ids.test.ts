import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUuid, numberOfUuid, randomToken, timeOfUuid, toBase62, uuidv5, uuidv7, uuidv8 } from '../../shared/ids.ts';

describe('a token', () => {
  test.each([
    [128, 22],
    [256, 43],
    [1, 1],
  ])('a token of %i bits has %i letters and digits', (bits, length) => {
    expect(randomToken(bits)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
  });

  test('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => randomToken(128))).size).toBe(1_000);
  });

  test('has every character equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      for (const character of randomToken(256)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (2_000 * 43) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(counts.size).toBe(62);
    // With 61 degrees of freedom, a fair source exceeds 150 in less than one of a hundred million runs. Bytes modulo 62 would give about
    // 630.
    expect(chiSquare).toBeLessThan(150);
  });
});

test.each([
  [0, 6, '000000'],
  [61, 1, 'z'],
  [62, 2, '10'],
  [2 ** 32 - 1, 6, '4gfFC3'],
])('%i in base 62 with %i digits is %s', (value, width, text) => {
  expect(toBase62(value, width)).toBe(text);
});

test('a version 8 UUID is the beginning of a hash', () => {
  // RFC 9562, appendix B.2.
  const hash = '5c146b143c524afd938a375d0df1fbf6fe12a66b645f72f6158759387e51f3c8';
  expect(uuidv8(hash)).toBe('5c146b14-3c52-8afd-938a-375d0df1fbf6');
});

describe('a version 7 UUID', () => {
  test('carries its time, version and variant', () => {
    // RFC 9562, appendix A.6: 0x017F22E279B0 is 2022-02-22T19:22:22Z.
    expect(uuidv7(0x017f22e279b0)).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('carries a number of 20 bits, and stays a version 7 UUID of its time', () => {
    const carried = fc.integer({ min: 0, max: 2 ** 20 - 1 });
    fc.assert(
      fc.property(carried, (number) => {
        const id = uuidv7(0x017f22e279b0, number);
        expect(numberOfUuid(id)).toBe(number);
        expect(timeOfUuid(id)).toBe(0x017f22e279b0);
        expect(id).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
    expect(new Set(Array.from({ length: 100 }, () => uuidv7(0x017f22e279b0, 1_200))).size).toBe(100);
  });

  test('sorts by its time', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(fc.property(time, time, (a, b) => a === b || uuidv7(a) < uuidv7(b) === a < b));
  });
});

test('a version 5 UUID is the one that RFC 9562 defines for the name', () => {
  // The example of Python's documentation of `uuid`.
  expect(uuidv5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'python.org')).toBe('886313e1-3b8a-5372-9b90-0c9aee199e5d');
});

test('a UUID of version 5 or 7 is a UUID', () => {
  expect(isUuid(uuidv7())).toBe(true);
  expect(isUuid('886313e1-3b8a-5372-9b90-0c9aee199e5d')).toBe(true);
});

test.each([
  '',
  'x886313e1-3b8a-5372-9b90-0c9aee199e5d',
  '886313e1-3b8a-5372-9b90-0c9aee199e5dx',
  '886313e1-3b8a-5372-9b90-0c9aee199e5',
  '886313e13b8a53729b900c9aee199e5d',
  '886313E1-3B8A-5372-9B90-0C9AEE199E5D',
  '886313e1-3b8a-5372-9b90-0c9aee199e5d\n',
  '../etc/passwd',
])('the text %j is not a UUID', (text) => {
  expect(isUuid(text)).toBe(false);
});
