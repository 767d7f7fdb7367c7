import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { FILE_NAME_MAX_BYTES } from '../../../shared/contract/limits.ts';
import { cleanFileName } from '../../../shared/files/file-name.ts';

const bytes = (text: string) => Buffer.byteLength(text);
const clean = (name: string | undefined) => cleanFileName(name, 'text/plain');

describe('a file name', () => {
  test.each([
    ['stays as it is', 'report 1.txt', 'report 1.txt'],
    ['keeps any script', 'naïve – 文件.txt', 'naïve – 文件.txt'],
    ['keeps emoji made of several code points', '👩‍👩‍👧.png', '👩‍👩‍👧.png'],
    ['keeps characters that are special in HTML, shells and URLs', 'a "b" <c> %2F $d;.txt', 'a "b" <c> %2F $d;.txt'],
    ['keeps its leading dot', '.gitignore', '.gitignore'],
    ['loses a path', '../dir/file.txt', 'file.txt'],
    ['loses an absolute path', '/etc/passwd', 'passwd'],
    ['loses a path of Windows', 'C:\\dir\\file.txt', 'file.txt'],
    ['loses a path with both kinds of slashes', 'a\\b/c\\d.txt', 'd.txt'],
    ['loses line breaks', 'two\r\nlines.txt', 'twolines.txt'],
    ['loses control characters', 'a\0\x1b[31m\x7f\x85b.php\0.jpg', 'a[31mb.php.jpg'],
    ['loses line and paragraph separators', 'a\u2028b\u2029c.txt', 'abc.txt'],
    ['loses marks that turn the direction of text', 'a\u202Egpj.exe\u2066\u2069\u200F\u061C', 'agpj.exe'],
    ['loses a byte order mark', '\uFEFFa.txt', 'a.txt'],
    ['loses white space around it', ' \t a.txt \u00A0', 'a.txt'],
    ['is in NFC', 'e\u0301.txt', 'é.txt'],
    ['has U+FFFD for half a surrogate pair', 'a\uD800.txt', 'a\uFFFD.txt'],
  ])('%s', (_, name, expected) => {
    expect(clean(name)).toBe(expected);
  });

  test.each([
    [undefined],
    [''],
    ['.'],
    ['..'],
    ['...'],
    [' . . '],
    ['dir/'],
    ['dir\\'],
    ['a/..'],
    ['\0\r\n'],
    ['\u202E'],
    ['.\u0000.'],
    ['\u200B'],
    ['\u200B\u200C .'],
    ['\u3164'],
    ['\u2800'],
    ['\u{E0041}'],
  ])('the name %j, which has no visible character, becomes the default name of its type', expectDefault);

  test('a name that begins with 300 dots becomes the default name of its type', () => {
    expectDefault('.'.repeat(300) + 'b'.repeat(300));
  });

  function expectDefault(name: string | undefined) {
    expect(clean(name)).toBe('file.txt');
    expect(cleanFileName(name, 'image/jpeg; charset=utf-8')).toBe('file.jpg');
    expect(cleanFileName(name, 'application/x-unknown')).toBe('file');
  }
});

describe('a long file name', () => {
  test.each([
    ['of exactly the limit stays as it is', `${'a'.repeat(251)}.txt`, `${'a'.repeat(251)}.txt`],
    ['of one byte more keeps its extension', `${'a'.repeat(252)}.txt`, `${'a'.repeat(251)}.txt`],
    ['keeps .tar before its extension', `${'a'.repeat(300)}.tar.gz`, `${'a'.repeat(248)}.tar.gz`],
    ['without an extension is cut', 'a'.repeat(300), 'a'.repeat(255)],
    ['with an “extension” too long to be one is cut', `a.${'b'.repeat(300)}`, `a.${'b'.repeat(253)}`],
    ['that begins with its only dot is cut', `.${'b'.repeat(300)}`, `.${'b'.repeat(254)}`],
    ['does not end in the space it was cut at', `${'a'.repeat(254)} ${'b'.repeat(99)}`, 'a'.repeat(254)],
    ['is cut between code points', `${'é'.repeat(200)}.txt`, `${'é'.repeat(125)}.txt`],
    ['is cut between graphemes', `${'👩‍👩‍👧'.repeat(20)}.png`, `${'👩‍👩‍👧'.repeat(13)}.png`],
    [
      'of one endless grapheme is cut between code points',
      `a${'\u0327'.repeat(200)}.txt`,
      `a${'\u0327'.repeat(125)}.txt`,
    ],
  ])('%s', (_, name, expected) => {
    expect(clean(name)).toBe(expected);
    expect(bytes(expected)).toBeLessThanOrEqual(FILE_NAME_MAX_BYTES);
  });
});

test('fewer than a thousand characters of a name are normalised, however long it is', () => {
  // A run of accents in two classes is sorted in quadratic time: these 64 KB took seconds.
  const names = ['\u0300\u0316'.repeat(16_000), `a${'\u0300'.repeat(16_000)}${'\u0316'.repeat(16_000)}.txt`];
  const normalize = vi.spyOn(String.prototype, 'normalize');
  const segment = vi.spyOn(Intl.Segmenter.prototype, 'segment');
  try {
    for (const name of names) expect(bytes(clean(name))).toBeLessThanOrEqual(FILE_NAME_MAX_BYTES);
    const lengths = [
      ...normalize.mock.contexts.map((text) => `${text}`.length),
      ...segment.mock.calls.map(([text]) => text.length),
    ];
    expect(lengths.length).toBeGreaterThanOrEqual(2 * names.length);
    expect(Math.max(...lengths)).toBeLessThan(1_000);
  } finally {
    vi.restoreAllMocks();
  }
});

test('a very long name gives the same result whether its accents are composed or not', () => {
  const pieces = ['é', 'ᾂ', '한', 'ế', 'a', '文', '👩‍👩‍👧', '𝒳', ' ', '.', '.tar.gz', '\u202E'];
  const names = fc.array(fc.constantFrom(...pieces), { minLength: 100, maxLength: 2_000, size: 'max' });
  fc.assert(
    fc.property(names, (chosen) => {
      const name = chosen.join('');
      expect(clean(name.normalize('NFD'))).toBe(clean(name));
    }),
    { numRuns: 300 },
  );
});

test('any name gives a usable name, which cleaning again does not change', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
      const cleaned = clean(name);
      expect(cleaned).not.toMatch(/[/\\\p{Cc}\p{Bidi_Control}]/u);
      expect(cleaned).not.toMatch(/^\.{0,2}$/);
      expect(cleaned.isWellFormed()).toBe(true);
      expect(cleaned).toBe(cleaned.normalize('NFC'));
      expect(bytes(cleaned)).toBeLessThanOrEqual(FILE_NAME_MAX_BYTES);
      expect(clean(cleaned)).toBe(cleaned);
    }),
    { numRuns: 2_000 },
  );
});
