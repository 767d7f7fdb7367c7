import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentDisposition } from '../../../shared/files/content-disposition.ts';

describe('Content-Disposition', () => {
  test.each([
    ['a.txt', 'filename="a.txt"; filename*=UTF-8\'\'a.txt'],
    ['my file.txt', 'filename="my file.txt"; filename*=UTF-8\'\'my%20file.txt'],
    [
      'naïve – 文件.txt',
      'filename="naive _ __.txt"; filename*=UTF-8\'\'na%C3%AFve%20%E2%80%93%20%E6%96%87%E4%BB%B6.txt',
    ],
    ['a "b" \\c.txt', 'filename="a _b_ _c.txt"; filename*=UTF-8\'\'a%20%22b%22%20%5Cc.txt'],
    ["it's (1)*.txt", "filename=\"it's (1)*.txt\"; filename*=UTF-8''it%27s%20%281%29%2A.txt"],
    ['100%41; x=y.txt', 'filename="100_41; x=y.txt"; filename*=UTF-8\'\'100%2541%3B%20x%3Dy.txt'],
    ['../a\r\nX: y', 'filename=".._a__X: y"; filename*=UTF-8\'\'..%2Fa%0D%0AX%3A%20y'],
    ['👩‍👧.png', 'filename="___.png"; filename*=UTF-8\'\'%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7.png'],
    ['a\uD800b', 'filename="a_b"; filename*=UTF-8\'\'a%EF%BF%BDb'],
    ['\u0301', 'filename="_"; filename*=UTF-8\'\'%CC%81'],
  ])('names %j in ASCII and in UTF-8', (name, parameters) => {
    expect(contentDisposition(name, 'text/plain')).toBe(`inline; ${parameters}`);
  });

  test.each([
    ['image/png', 'inline'],
    ['text/plain; charset=utf-8', 'inline'],
    ['text/html', 'attachment'],
    ['image/svg+xml', 'attachment'],
    ['application/x-unknown', 'attachment'],
  ])('the disposition of %s is %s', (mimeType, type) => {
    expect(contentDisposition('a', mimeType)).toMatch(new RegExp(`^${type}; `));
  });

  test('is well-formed for any name, and holds the whole name', () => {
    /** RFC 6266 with the quoted-string of RFC 9110, without escapes, and RFC 8187's attr-char. */
    const grammar =
      /^attachment; filename="([ !#-[\]-~]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+\-.^_`|~]|%[0-9A-F]{2})*)$/;
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const [, , extended] = grammar.exec(contentDisposition(name, 'a/b')) ?? [];
        expect(decodeURIComponent(extended ?? 'malformed')).toBe(name.toWellFormed());
      }),
    );
  });
});
