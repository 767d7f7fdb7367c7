import { describe, expect, test } from 'vitest';
import { extensionOf, INLINE_MEDIA_TYPES, isInline, mediaType } from '../../../shared/files/media-type.ts';
import { EXTENSIONS_OF_TYPES } from '../../../shared/files/media-type-table.ts';

describe('the media type', () => {
  test.each([
    ['is the declared one', 'image/png', 'a.txt', 'image/png'],
    [
      'is that of the extension, if the declared one is application/octet-stream',
      'application/octet-stream',
      'a.txt',
      'text/plain',
    ],
    [
      'is application/octet-stream, if the extension is unknown as well',
      'application/octet-stream',
      'a.unknownext',
      'application/octet-stream',
    ],
    ['is the declared one, even if it is unknown', 'foo/x.bar+json', 'a.txt', 'foo/x.bar+json'],
    [
      'is the declared one, even if its type and subtype have 127 characters each',
      `${'x'.repeat(127)}/${'y'.repeat(127)}`,
      'a',
      `${'x'.repeat(127)}/${'y'.repeat(127)}`,
    ],
    ['is lower-cased', 'Text/HTML', 'a.txt', 'text/html'],
    ['loses white space', ' image/png ', 'a', 'image/png'],
    ['keeps a known charset', 'text/plain; charset=UTF-8', 'a', 'text/plain; charset=utf-8'],
    [
      'keeps a quoted charset, without the quotes',
      'text/plain;charset="iso-8859-1"',
      'a',
      'text/plain; charset=iso-8859-1',
    ],
    ['keeps a charset among other parameters', 'text/plain; a=b; charset=utf-8; c=d', 'a', 'text/plain; charset=utf-8'],
    ['loses an unknown charset', 'text/plain; charset=utf-7', 'a', 'text/plain'],
    ['loses a charset that is not a token', 'text/plain; charset="utf-8; x"', 'a', 'text/plain'],
    ['loses all other parameters', 'multipart/mixed; boundary=x', 'a', 'multipart/mixed'],
    ['loses a stray semicolon', 'image/png;', 'a', 'image/png'],
  ])('%s', (_, declared, name, expected) => {
    expect(mediaType(declared, name)).toBe(expected);
  });

  test.each([
    ['image/jpg', 'image/jpeg'],
    ['image/pjpeg', 'image/jpeg'],
    ['image/x-png', 'image/png'],
    ['image/x-ms-bmp', 'image/bmp'],
    ['audio/wave', 'audio/wav'],
    ['audio/x-wav', 'audio/wav'],
    ['audio/vnd.wave', 'audio/wav'],
    ['audio/m4a', 'audio/mp4'],
    ['audio/x-m4a', 'audio/mp4'],
    ['audio/mp3', 'audio/mpeg'],
    ['audio/x-mpeg', 'audio/mpeg'],
    ['audio/x-flac', 'audio/flac'],
    ['audio/x-aac', 'audio/aac'],
    ['audio/opus', 'audio/ogg'],
    ['video/x-m4v', 'video/mp4'],
    ['application/x-pdf', 'application/pdf'],
    ['image/x-gif', 'image/gif'],
    ['image/x-citrix-jpeg', 'image/jpeg'],
    ['application/x-jpg', 'image/jpeg'],
    ['image/x-citrix-png', 'image/png'],
    ['application/png', 'image/png'],
    ['image/vnd.mozilla.apng', 'image/apng'],
    ['image/x-win-bitmap', 'image/bmp'],
    ['image/x-ico', 'image/x-icon'],
    ['application/acrobat', 'application/pdf'],
    ['text/x-pdf', 'application/pdf'],
    ['application/ogg', 'audio/ogg'],
    ['application/x-ogg', 'audio/ogg'],
    ['audio/x-opus', 'audio/ogg'],
    ['audio/x-opus+ogg', 'audio/ogg'],
    ['audio/x-mpg', 'audio/mpeg'],
    ['audio/vnd.dlna.adts', 'audio/aac'],
    ['audio/x-m4b', 'audio/mp4'],
    ['video/mpeg4', 'video/mp4'],
    ['video/x-mpeg4', 'video/mp4'],
    ['video/mp4v-es', 'video/mp4'],
    ['video/x-mov', 'video/quicktime'],
    ['video/x-theora', 'video/ogg'],
    ['application/txt', 'text/plain'],
    ['application/x-markdown', 'text/markdown'],
    ['Image/JPG; charset=x', 'image/jpeg'],
  ])('is the registered one for its alias %s', (alias, registered) => {
    expect(mediaType(alias, 'a.txt')).toBe(registered);
    expect(isInline(mediaType(alias, 'a'))).toBe(true);
  });

  test.each([
    'binary/octet-stream',
    'application/binary',
    'application/force-download',
    'application/x-download',
    'unknown/unknown',
  ])('is that of the extension when the declared one is %s, which says nothing', (declared) => {
    expect(mediaType(declared, 'photo.jpg')).toBe('image/jpeg');
    expect(mediaType(declared, 'a.unknownext')).toBe('application/octet-stream');
  });

  test.each([
    [''],
    ['image'],
    ['image/'],
    ['/png'],
    ['*/*'],
    ['image/*'],
    ['image/png image/gif'],
    ['image/png, image/gif'],
    ['image / png'],
    ['a/b/c'],
    ['imäge/png'],
    ['text/\u212aml'],
    ['image/png\r\nX-Evil: 1'],
    ['image/png\0'],
    [`image/${'x'.repeat(128)}`],
    ['__proto__'],
  ])('is that of the extension when the declared one is %j, which is no media type', (declared) => {
    expect(mediaType(declared, 'photo.JPG')).toBe('image/jpeg');
  });

  test.each([
    ['photo.jpeg', 'image/jpeg'],
    ['photo.JPG', 'image/jpeg'],
    ['archive.tar.gz', 'application/gzip'],
    ['.txt', 'text/plain'],
    ['page.html', 'text/html'],
    ['main.rs', 'text/plain'],
    ['Main.JAVA', 'text/plain'],
    ['fix.patch', 'text/plain'],
    ['data.ndjson', 'application/x-ndjson'],
    ['a.unknown', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
    ['txt', 'application/octet-stream'],
    ['', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
    ['a.__proto__', 'application/octet-stream'],
    ['a.txt\n', 'application/octet-stream'],
  ])('the media type of %j, with none declared, is %s', (name, expected) => {
    expect(mediaType(undefined, name)).toBe(expected);
  });
});

describe('the extension', () => {
  test.each([
    ['image/jpeg', '.jpg'],
    ['text/plain; charset=utf-8', '.txt'],
    ['application/octet-stream', '.bin'],
    ['application/x-unknown', ''],
    ['constructor', ''],
    ['__proto__', ''],
    ['', ''],
  ])('the extension of %j is %j', (type, extension) => {
    expect(extensionOf(type)).toBe(extension);
  });

  test('the extension of every row of the table leads back to its type', () => {
    for (const [type, extensions] of Object.entries(EXTENSIONS_OF_TYPES)) {
      for (const extension of extensions.split(' ')) expect(mediaType(undefined, `a.${extension}`)).toBe(type);
      expect(mediaType(undefined, `file${extensionOf(type)}`)).toBe(type);
    }
  });
});

describe('a browser may show', () => {
  test.each([
    ...['image/png', 'video/mp4', 'audio/mpeg', 'application/pdf', 'text/plain', 'text/plain; charset=utf-8'],
    ...['text/csv', 'text/markdown', 'text/css', 'text/javascript', 'text/vtt', 'text/calendar', 'text/x-python'],
    ...['text/x-java-source', 'text/x-script.sh', 'text/vnd.graphviz', 'text/x-unknown'],
    ...['application/json', 'application/ld+json', 'application/x-ndjson', 'model/gltf+json', 'application/yaml'],
    ...['application/toml', 'application/sql', 'application/x-sh', 'application/typescript', 'application/x-httpd-php'],
  ])('%s', (type) => {
    expect(isInline(type)).toBe(true);
  });

  test.each([
    ...['text/html', 'text/x-server-parsed-html', 'application/xhtml+xml', 'image/svg+xml', 'application/atom+xml'],
    ...['text/xml', 'application/xml', 'text/xsl', 'text/vnd.wap.wml+xml', 'text/x-component', 'text/x-scriptlet'],
    ...['text/rtf', 'application/rtf', 'application/octet-stream', 'application/x-unknown', 'application/jsonx'],
    ...['image/x-unknown', 'image/png-evil', 'message/rfc822', 'multipart/x-mixed-replace', 'text/', ''],
  ])('but not %j', (type) => {
    expect(isInline(type)).toBe(false);
  });

  test('of the images, audio and video only those of INLINE_MEDIA_TYPES', () => {
    for (const type of INLINE_MEDIA_TYPES) expect(type).toMatch(/^(?:image|audio|video)\/[a-z0-9.-]+$/);
    const others = Object.keys(EXTENSIONS_OF_TYPES).filter(
      (type) => /^(?:image|audio|video)/.test(type) && isInline(type),
    );
    expect(INLINE_MEDIA_TYPES).toEqual(expect.arrayContaining(others));
  });
});
