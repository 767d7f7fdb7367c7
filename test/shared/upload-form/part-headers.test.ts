import { describe, expect, test } from 'vitest';
import { chunksOf, disposition, FIELD, FILE, formOf, type Part, readForm, UNSELECTED } from './read-form.ts';

const read = (...parts: readonly Part[]) => readForm(chunksOf(formOf(...parts)));
/** The UTF-8 bytes of a text, each as one character, because `formOf` writes a character as one byte. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('a file name', () => {
  test.each([
    ['is taken as it is', '; filename="a.txt"', 'a.txt'],
    ['may be empty', '; filename=""', ''],
    ['may stand before the field name', '; filename="b.txt"; x=y', 'b.txt'],
    ['may be without quotes', '; filename=a.txt', 'a.txt'],
    ['may be without quotes and hold spaces', '; filename=my file.txt', 'my file.txt'],
    ['may be without quotes and hold a semicolon', '; filename=a;b.txt', 'a;b.txt'],
    ['without quotes ends where another parameter begins', '; filename=my file.txt; x=y', 'my file.txt'],
    ['has its parameter in any letter case', '; FileName="a.txt"', 'a.txt'],
    ['may have spaces around the equals sign', '; filename = "a.txt" ', 'a.txt'],
    ['is UTF-8', utf8('; filename="naïve – 文件.txt"'), 'naïve – 文件.txt'],
    ['is windows-1252 when it is not UTF-8', '; filename="na\xefve \x96 5 \x80.txt"', 'naïve – 5 €.txt'],
    ['has every byte of windows-1252', '; filename="\x81\x9d.txt"', '\x81\x9d.txt'],
    ['has browsers’ escapes decoded', '; filename="%22a%0D%0Ab%22.txt"', '"a\r\nb".txt'],
    ['keeps any other percent sign', '; filename="100%25 a%20b %2.txt"', '100%25 a%20b %2.txt'],
    ['keeps lower-case escapes, which no browser sends', '; filename="a%0db.txt"', 'a%0db.txt'],
    ['has escaped quotes and backslashes decoded', '; filename="a \\"b\\" c\\\\d.txt"', 'a "b" c\\d.txt'],
    ['may hold an escaped quote before what looks like a parameter', '; filename="a\\"; x=y.txt"', 'a"; x=y.txt'],
    ['keeps the backslashes of a path', '; filename="C:\\dir\\new.txt"', 'C:\\dir\\new.txt'],
    ['may end in a backslash that escapes nothing', '; filename="a\\"', 'a\\'],
    ['may hold bare quotes', '; filename="a "b".txt"', 'a "b".txt'],
    ['may hold a bare quote and a semicolon', '; filename="a"; b.txt"', 'a"; b.txt'],
    ['may lack its closing quote', '; filename="a.txt', 'a.txt'],
    ['may hold a bare LF', '; filename="a\nb.txt"', 'a\nb.txt'],
    ['may hold a bare CR', '; filename="a\rb.txt"', 'a\rb.txt'],
    ['may go on in the next line, by leading white space', ';\r\n filename="a.txt"', 'a.txt'],
    ['goes on after any white space at the line’s beginning', '; filename="a\r\n \tb.txt"', 'a b.txt'],
    ['counts the first time it comes', '; filename="a.txt"; filename="b.txt"', 'a.txt'],
  ])('%s', async (_, parameters, filename) => {
    expect(await read([disposition(parameters), 'content'])).toMatchObject({
      filename,
      content: Buffer.from('content'),
    });
  });

  test.each([
    ['in base64', '=?utf-8?B?5paH5Lu2LnR4dA==?=', '文件.txt'],
    ['without padding', '=?UTF-8?b?5paH5Lu2LnR4dA?=', '文件.txt'],
    ['whose base64 has a slash', '=?utf-8?B?0L/RgNC40LLQtdGCLnR4dA==?=', 'привет.txt'],
    ['quoted', '=?utf-8?Q?na=C3=AFve_5.txt?=', 'naïve 5.txt'],
    ['in another charset', '=?iso-8859-1?Q?na=EFve.txt?=', 'naïve.txt'],
    ['in one that browsers know, too', '=?koi8-r?B?0NLJ18XULnR4dA==?=', 'привет.txt'],
    ['of two bytes', '=?shift_jis?B?k/qWey50eHQ=?=', '日本.txt'],
    ['with a language', '=?utf-8*en?Q?a=20b.txt?=', 'a b.txt'],
    ['of several words', '=?utf-8?B?5paH?= =?utf-8?B?5Lu2LnR4dA==?=', '文件.txt'],
  ])('an encoded word %s is decoded', async (_, word, filename) => {
    expect((await read([disposition(`; filename="${word}"`), 'content'])).filename).toBe(filename);
    expect((await read([disposition(`; filename=${word}`), 'content'])).filename).toBe(filename);
  });

  test.each([
    ['in an unknown charset', '=?nonsense?B?5paH?='],
    ['whose bytes are not of its charset', '=?utf-8?B?/w==?='],
    ['whose text is not base64', '=?utf-8?B?a-b?='],
    ['beside other text', 'a =?utf-8?B?5paH?='],
    ['of an unknown encoding', '=?utf-8?X?5paH?='],
  ])('an encoded word %s is kept as it is', async (_, word) => {
    expect((await read([disposition(`; filename="${word}"`), 'content'])).filename).toBe(word);
  });

  test.each([
    ['is taken even after filename', '; filename="x"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
    ['is taken even before filename', '; filename*=UTF-8\'\'na%C3%AFve.txt; filename="x"', 'naïve.txt'],
    ['may come alone', "; filename*=utf-8''a.txt", 'a.txt'],
    ['may name a language', "; filename*=UTF-8'en'a%20b.txt", 'a b.txt'],
    ['may be ISO-8859-1', "; filename*=ISO-8859-1''na%EFve.txt", 'naïve.txt'],
    ['may be quoted against the rules (Apache HttpClient)', '; filename*="UTF-8\'\'na%C3%AFve.txt"', 'naïve.txt'],
    [
      'may be encoded twice (Apache HttpClient 5.5)',
      '; filename*="UTF-8\'\'UTF-8%27%27na%25C3%25AFve.txt"',
      'naïve.txt',
    ],
    ['loses quotes that are encoded with it (WebApiClient)', "; filename*=utf-8''%22a%20b.txt%22", 'a b.txt'],
    ['may hold bare UTF-8', utf8("; filename*=UTF-8''文件.txt"), '文件.txt'],
    ['may hold single quotes', "; filename*=UTF-8''it's.txt", "it's.txt"],
    ['keeps a percent sign that encodes nothing', "; filename*=UTF-8''100%.txt", '100%.txt'],
    ['has U+FFFD for what is not UTF-8', "; filename*=UTF-8''na%EFve.txt", 'na\uFFFDve.txt'],
    ['is ignored when it is empty', '; filename="a.txt"; filename*=UTF-8\'\'', 'a.txt'],
    ['is ignored in an unknown charset', '; filename="a.txt"; filename*=KOI8-R\'\'%C1.txt', 'a.txt'],
    ['is ignored without a charset', '; filename="a.txt"; filename*=b.txt', 'a.txt'],
  ])('a file name in filename* %s', async (_, parameters, filename) => {
    expect((await read([disposition(parameters), 'content'])).filename).toBe(filename);
  });
});

describe('a percent-encoded name', () => {
  const UUID = 'e96bf5afc7a34cfbbb56773ffa4bbc4f';
  const NEEDLE = '--------------------NODENEEDLEHTTPCLIENT';
  const TYPE = 'Content-Type: text/plain';
  const named = (name: string) => disposition(`; filename="${name}"`);
  const NAME = named('a%20b.txt');

  test.each([
    ['is decoded when the form is aiohttp’s', UUID, `${TYPE}\r\n${NAME}`, 'a b.txt'],
    ['is decoded when the form is needle’s', NEEDLE, `${NAME}\r\n${TYPE}`, 'a b.txt'],
    ['is decoded in all characters that aiohttp encodes', UUID, `${TYPE}\r\n${named('%28%21%29%25%C3%A9')}`, '(!)%é'],
    ['is decoded after a header of another kind', UUID, `Content-Length: 7\r\n${TYPE}\r\n${NAME}`, 'a b.txt'],
    ['is decoded in its asterisk, which aiohttp encodes', UUID, `${TYPE}\r\n${named('%2A')}`, '*'],
    ['is decoded in all characters that needle encodes', NEEDLE, named('(!)%25%22%C3%A9'), '(!)%"é'],
    ['stays when Content-Type comes second', UUID, `${NAME}\r\n${TYPE}`, 'a%20b.txt'],
    ['stays when there is no Content-Type', UUID, NAME, 'a%20b.txt'],
    [
      'stays when the boundary is not a random UUID',
      `${UUID.slice(0, 12)}f${UUID.slice(13)}`,
      `${TYPE}\r\n${NAME}`,
      'a%20b.txt',
    ],
    ['stays with a boundary that is not needle’s', `${NEEDLE}S`, NAME, 'a%20b.txt'],
    ['stays beside a space, which aiohttp would encode', UUID, `${TYPE}\r\n${named('a%20b c.txt')}`, 'a%20b c.txt'],
    ['stays beside a letter that aiohttp would encode', UUID, `${TYPE}\r\n${named('é%20b.txt')}`, 'é%20b.txt'],
    ['stays beside a bracket, which aiohttp would encode', UUID, `${TYPE}\r\n${named('a%20(1).txt')}`, 'a%20(1).txt'],
    ['stays beside a space, which needle would encode', NEEDLE, named('a%20b c.txt'), 'a%20b c.txt'],
    ['stays where it encodes what aiohttp does not', UUID, `${TYPE}\r\n${named('%61%20b.txt')}`, '%61%20b.txt'],
    [
      'stays with lower-case escapes, which aiohttp does not write',
      UUID,
      `${TYPE}\r\n${named('%c3%a9.txt')}`,
      '%c3%a9.txt',
    ],
    ['stays when its bytes are not UTF-8', UUID, `${TYPE}\r\n${named('%E9.txt')}`, '%E9.txt'],
    ['stays when its percent sign begins no escape', UUID, `${TYPE}\r\n${named('100%.txt')}`, '100%.txt'],
  ])('%s', async (_, boundary, headers, filename) => {
    const body = `--${boundary}\r\n${headers}\r\n\r\ncontent\r\n--${boundary}--\r\n`;
    const reading = await readForm(chunksOf(Buffer.from(body)), `multipart/form-data; boundary=${boundary}`);
    expect(reading.filename).toBe(filename);
  });
});

describe('a file part whose content is encoded', () => {
  const REFUSED = { error: 'invalid_request', stored: 0, discarded: 0 };

  test.each([
    'Content-Transfer-Encoding: base64',
    'content-transfer-encoding:Quoted-Printable ',
    'Content-Encoding: gzip',
    'Content-Encoding: identity, br',
    'Content-Type: multipart/mixed; boundary=x',
    'Content-Type: Multipart/Mixed',
  ])('is refused and not stored with %s', async (header) => {
    expect(await read([`${FILE[0]}\r\n${header}`, 'Y29udGVudA=='])).toEqual(REFUSED);
    const unnamed = header.startsWith('Content-Type') ? header : `Content-Type: a/b\r\n${header}`;
    expect(await read([`${disposition('')}\r\n${unnamed}`, 'Y29udGVudA=='])).toEqual(REFUSED);
  });

  test.each(['binary', '8bit', '7bit', '7Bit', '', 'BASE 64', 'x-base64', 'base64url'])(
    'is taken with Content-Transfer-Encoding: %s, which encodes nothing',
    async (encoding) => {
      const part: Part = [`${FILE[0]}\r\nContent-Transfer-Encoding: ${encoding}`, 'content'];
      expect(await read(part)).toMatchObject({ content: Buffer.from('content'), stored: 1 });
      expect(await read([`${FILE[0]}\r\nContent-Encoding: Identity`, 'content'])).toMatchObject({ stored: 1 });
    },
  );

  test('is refused even when only its size shows that it is the file', async () => {
    const headers = `${disposition('')}\r\nContent-Type: a/b\r\nContent-Transfer-Encoding: base64`;
    expect(await read([headers, 'x'.repeat(2_000_000)])).toEqual(REFUSED);
  });

  test('an encoding does not matter in a field', async () => {
    const field: Part = [`${FIELD[0]}\r\nContent-Transfer-Encoding: quoted-printable`, '=41'];
    const typed: Part = [`${FIELD[0]}\r\nContent-Type: a/b\r\nContent-Transfer-Encoding: base64`, 'QQ=='];
    expect(await read(field, typed, FILE, typed)).toMatchObject({ filename: 'a.txt', stored: 1, discarded: 0 });
  });
});

test('a form with a multipart/mixed part is refused even if another part is the file, because that part may hold more files', async () => {
  const mixed: Part = [`${FIELD[0]}\r\nContent-Type: multipart/mixed; boundary=x`, '--x--'];
  const refused = { error: 'invalid_request', stored: 0, discarded: 0 };
  expect(await read(mixed, FILE)).toEqual(refused);
  expect(await read(FILE, mixed)).toEqual({ ...refused, stored: 1, discarded: 1 });
});

describe('a part is a file', () => {
  test.each([
    ['with filename', disposition('; filename="a"'), { filename: 'a', contentType: undefined }],
    [
      'with filename, even as text/plain',
      `${disposition('; filename="a"')}\r\nContent-Type: text/plain`,
      { filename: 'a', contentType: 'text/plain' },
    ],
    ['with an empty filename and content', disposition('; filename=""'), { filename: '', contentType: undefined }],
    [
      'with a type and no name',
      `${disposition('')}\r\nContent-Type: image/png`,
      { filename: undefined, contentType: 'image/png' },
    ],
    [
      'with a type and no Content-Disposition',
      'Content-Type: image/png',
      { filename: undefined, contentType: 'image/png' },
    ],
    ['under any field name', 'Content-Disposition: form-data; name="files[]"; filename="a"', { filename: 'a' }],
    ['under no field name', 'Content-Disposition: form-data; filename="a"', { filename: 'a' }],
    [
      'with its headers in any letter case and order',
      'content-type:IMAGE/png\r\nCONTENT-DISPOSITION:form-data;filename=a',
      { filename: 'a', contentType: 'IMAGE/png' },
    ],
    [
      'beside other headers',
      `Content-Transfer-Encoding: binary\r\n${disposition('; filename="a"')}\r\nContent-Length: 7`,
      { filename: 'a' },
    ],
    [
      'with two types, of which the first counts',
      `${disposition('; filename="a"')}\r\nContent-Type: a/b\r\nContent-Type: c/d`,
      { contentType: 'a/b' },
    ],
  ])('%s', async (_, headers, expected) => {
    expect(await read([headers, 'content'])).toMatchObject({ ...expected, content: Buffer.from('content'), stored: 1 });
  });

  test.each([
    ['with a field name alone', disposition('')],
    ['of type text/plain', `${disposition('')}\r\nContent-Type: text/plain`],
    ['of type text/plain with a charset', `${disposition('')}\r\nContent-Type: Text/Plain; charset=utf-8`],
    ['with an empty type', `${disposition('')}\r\nContent-Type:`],
    ['without headers', ''],
    ['with another header only', 'X-Note: filename="a"'],
    ['with filename as a value', 'Content-Disposition: form-data; name="filename"'],
  ])('but not %s', async (_, headers) => {
    const fields = Buffer.from(`--B\r\n${headers}${headers && '\r\n'}\r\ncontent\r\n--B--\r\n`);
    expect(await readForm(chunksOf(fields))).toEqual({ error: 'invalid_request', stored: 0, discarded: 0 });
  });
});

describe('a form', () => {
  const FOUND = { filename: 'a.txt', content: Buffer.from('content'), stored: 1, discarded: 0 };

  test.each<[string, Part[], object]>([
    ['the file alone', [FILE], FOUND],
    ['fields before and after the file', [FIELD, FILE, FIELD, FIELD], FOUND],
    ['unselected inputs before and after the file', [UNSELECTED, FILE, UNSELECTED], FOUND],
    ['an empty file', [[FILE[0], '']], { ...FOUND, content: Buffer.alloc(0) }],
  ])('is read with %s', async (_, parts, expected) => {
    expect(await read(...parts)).toMatchObject(expected);
  });

  test.each<[string, Part[], number]>([
    ['no part', [], 0],
    ['fields only', [FIELD, FIELD], 0],
    ['an unselected input only', [UNSELECTED], 0],
    ['two files', [FILE, FILE], 1],
    ['two files and fields between them', [FILE, FIELD, FILE], 1],
  ])('is refused with %s, and the stored file is discarded', async (_, parts, stored) => {
    expect(await read(...parts)).toEqual({ error: 'invalid_request', stored, discarded: stored });
  });

  test.each([
    ['a line without a colon', 'Content-Disposition'],
    ['a first line that begins with white space', ` ${FILE[0]}`],
    ['a header name with a space', 'Content Disposition: form-data; filename="a"'],
    ['a header without a name', ': form-data; filename="a"'],
    ['a file name broken over two lines', disposition('; filename="a\r\nb.txt"')],
    ['no empty line after them', `${FILE[0]}\r\n--B\r\n${FILE[0]}`],
  ])('is refused when the headers of a part have %s', async (_, headers) => {
    expect(await read(FIELD, [headers, 'content'])).toEqual({ error: 'invalid_request', stored: 0, discarded: 0 });
  });
});
