import { describe, expect, test } from 'vitest';
import { checksum, generateKey, hashKey, isWellFormedKey, prefixOf } from '../../../shared/api-keys/key-format.ts';

describe('a new key', () => {
  test.each([
    ['live', /^svc_live_[0-9A-Za-z]{49}$/],
    ['test', /^svc_test_[0-9A-Za-z]{49}$/],
  ] as const)('a new key of kind %s shows its kind, and is well formed', (kind, form) => {
    const key = generateKey(kind);
    expect(key).toMatch(form);
    expect(isWellFormedKey(key)).toBe(true);
  });

  test('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => generateKey('live'))).size).toBe(1_000);
  });

  test('is shown later as its kind and three characters', () => {
    const key = generateKey('live');
    expect(prefixOf(key)).toBe(key.slice(0, 12));
    expect(prefixOf(key)).toMatch(/^svc_live_[0-9A-Za-z]{3}$/);
  });
});

test.each([
  ['zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ', '0mLq17'],
  ['qkJaB6MffYVzZXWqmcoF49yrUxP3wf', '0LsakP'],
])('the checksum of %s is %s, as in published GitHub tokens', (secret, sum) => {
  expect(checksum(secret)).toBe(sum);
});

describe('a text that cannot be a key is refused without a read:', () => {
  const key = generateKey('live');
  const flip = (at: number) => key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1);

  test('a key with any one character of the secret or the checksum mistyped', () => {
    for (let at = 'svc_live_'.length; at < key.length; at++) expect(isWellFormedKey(flip(at))).toBe(false);
  });

  test('a key with two neighbouring characters of the secret swapped', () => {
    for (let at = 9; at < 51; at++) {
      const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      expect(isWellFormedKey(swapped)).toBe(swapped === key);
    }
  });

  test.each([
    ['an empty text', ''],
    ['a key without its last character', key.slice(0, -1)],
    ['a key with one more character', `${key}a`],
    ['a key with a line break after it', `${key}\n`],
    ['a key with a space before it', ` ${key}`],
    ['a key of an unknown kind', key.replace('svc_live_', 'svc_prod_')],
    ['a key with its prefix in capitals', key.replace('svc_live_', 'SVC_LIVE_')],
    ['a key without its prefix', key.replace('svc_live_', '')],
    ['a key with letters that no key has', 'svc_live_'.padEnd(58, 'ä')],
    ['a text of 100,000 characters', 'a'.repeat(100_000)],
  ])('%s', (_name, text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });
});

test('the stored hash is SHA-256 over the whole key', () => {
  // sha256("abc"), FIPS 180-2.
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
