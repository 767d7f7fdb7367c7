import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldName, isReadable, NAME_SEPARATOR, positionsWith, sealOf } from '../../../shared/files/sealed-names.ts';

/** Names that have much in common, so that a part of one is often in another. */
const name = fc.oneof(
  fc.array(fc.constantFrom('a', 'A', 'ß', 'ẞ', 'é', 'e', '\u0301', 'Σ', 'ς', ' ', '.', '💩', 'ﬁ', 'İ'), {
    maxLength: 6,
  }),
  fc.array(fc.string({ unit: 'grapheme', maxLength: 3 }), { maxLength: 2 }),
);
const leafOfNames = fc.uniqueArray(fc.tuple(fc.nat(63), name), { selector: ([position]) => position, maxLength: 64 });

const withoutSeparator = (parts: readonly string[]) => parts.join('').replaceAll(NAME_SEPARATOR, '');

describe('a seal', () => {
  test('finds a part at exactly the positions whose names contain it', () => {
    fc.assert(
      fc.property(leafOfNames, name, (leaf, search) => {
        const files = leaf.map(([position, parts]) => ({ seq: 640 + position, name: withoutSeparator(parts) }));
        const part = foldName(withoutSeparator(search));
        fc.pre(part !== '');
        const expected = files.filter((file) => foldName(file.name).includes(part)).map(({ seq }) => seq - 640);
        expect(positionsWith(sealOf(files), part)).toEqual(expected.sort((a, b) => a - b));
      }),
    );
  });

  test('has 64 positions, and those without a file are empty', () => {
    const { names } = sealOf([
      { seq: 64, name: 'First.TXT' },
      { seq: 127, name: 'LAST' },
    ]);
    expect(names.split(NAME_SEPARATOR)).toEqual(['first.txt', ...Array(62).fill(''), 'last']);
    expect(sealOf([]).names).toBe(NAME_SEPARATOR.repeat(63));
  });

  test('cannot be made of a name that no file can have', () => {
    expect(() => sealOf([{ seq: 5, name: `a${NAME_SEPARATOR}b` }])).toThrow('the name of file 5');
  });

  test('a seal with a character that Unicode does not know yet can be read only by the version that folded it', () => {
    expect(sealOf([{ seq: 0, name: 'a💩ß' }])).not.toHaveProperty('unicode');
    const seal = sealOf([{ seq: 0, name: '\u{2FE0}' }]);
    expect(seal.unicode).toBe(process.versions.unicode);
    expect(isReadable(seal)).toBe(true);
    expect(isReadable({ ...seal, unicode: '1.1' })).toBe(false);
  });
});

describe('folding', () => {
  /** Every character, assigned or not, except halves of surrogate pairs. */
  const everyCharacter = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code));

  test('turns no other character into the separator, and none into an empty text', () => {
    const folded = everyCharacter.filter((character) => foldName(character).includes(NAME_SEPARATOR));
    expect(folded).toEqual([NAME_SEPARATOR]);
    expect(everyCharacter.filter((character) => foldName(character) === '')).toEqual([]);
  });

  test('changes nothing in a folded character', () => {
    const unstable = everyCharacter.filter((character) => foldName(foldName(character)) !== foldName(character));
    expect(unstable).toEqual([]);
  });
});
