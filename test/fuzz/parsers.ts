import { expect } from 'vitest';
import { createApiKey } from '../../shared/api-keys/api-key.ts';
import { checksum, isWellFormedKey } from '../../shared/api-keys/key-format.ts';
import { LIST_QUERY } from '../../shared/contract/request-rules.ts';
import { ApiError } from '../../shared/errors.ts';
import { contentDisposition } from '../../shared/files/content-disposition.ts';
import { parseTicketRequest } from '../../shared/files/create-ticket.ts';
import { cleanFileName } from '../../shared/files/file-name.ts';
import { mediaType } from '../../shared/files/media-type.ts';
import { parseCookies, soleCookie } from '../../shared/http/cookies.ts';
import { type ApiEvent, idempotencyKey, jsonBody, queryInteger, queryText } from '../../shared/http/request.ts';
import { findAttempt } from '../../shared/login/login-attempt.ts';
import { LoginError } from '../../shared/login/login-error.ts';
import { headerParameters } from '../../shared/upload-form/header-parameters.ts';
import { capturedUploads } from '../shared/upload-form/captured.ts';
import { chunksOf, disposition, type Reading, readForm } from '../shared/upload-form/read-form.ts';
import type { Target } from './fuzz.ts';

const SECRET = `${'a1'.repeat(21)}b`;
const wellFormed = (kind: string) => `${kind}${SECRET}${checksum(SECRET)}`;

/** What the reading of any input must keep to, besides that it ends, and throws no error but the ones that clients see. */
export const PARSERS: Readonly<Record<string, Target>> = {
  /** The value of `Content-Type`, an empty line, and the body. */
  form: {
    words: [
      ...[
        '--B',
        '\r\n--B\r\n',
        '\r\n--B--',
        '\r\n--B--\r\n',
        '\r\n',
        '\r\n\r\n',
        '\r',
        '\n',
        ' ',
        '\t',
        ';',
        '"',
        '\\',
        '%',
        '=',
        '--',
      ],
      ...[
        'multipart/form-data; boundary=B',
        'multipart/form-data',
        'boundary=',
        '; charset=utf-8',
        'multipart/mixed',
        'text/plain',
      ],
      ...[
        'Content-Disposition: form-data; name="a"',
        '; filename="b.txt"',
        "; filename*=UTF-8''%c3%a4",
        "iso-8859-1''%e4",
        '%22',
        '%0D%0A',
      ],
      ...[
        'Content-Type: a/b\r\n',
        'Content-Type: text/plain\r\n',
        'Content-Encoding: gzip\r\n',
        'Content-Transfer-Encoding: base64\r\n',
      ],
      ...[
        '=?utf-8?B?w6Q=?=',
        '=?utf-8?q?=C3=A4_?=',
        '\xc3\xa4',
        '\xe4',
        '\0',
        ': ',
        '__proto__: x\r\n',
        'x'.repeat(70),
      ],
    ],
    seeds: capturedUploads()
      .filter(({ body }) => body.length < 1_500)
      .map(({ contentType, body }) => `${contentType}\r\n\r\n${body.toString('latin1')}`),
    // The form is also read with each byte as a chunk of its own.
    stepsPerByte: 100,
    async check(input) {
      const end = input.indexOf('\r\n\r\n');
      const contentType = input.slice(0, Math.max(0, end));
      const body = bytesOf(end < 0 ? input : input.slice(end + 4));
      const whole = await readForm(chunksOf(body), contentType);
      if (whole.error === undefined) expect(whole).toMatchObject({ stored: 1, discarded: 0 });
      else
        expect(whole).toEqual({
          error: expect.stringMatching(/^(invalid_request|unsupported_media_type)$/),
          stored: whole.stored,
          discarded: whole.stored,
        });
      for (const size of [1, 2 + (body.length % 61)]) {
        expect(await readForm(chunksOf(body, size), contentType), `in chunks of ${size}`).toEqual(whole);
      }
      if (whole.error === undefined && isPlain(whole))
        expect(await readForm(chunksOf(formOf(whole)), `multipart/form-data; boundary=${BOUNDARY}`)).toEqual(whole);
    },
  },

  /** A header with parameters; the whole text is also used as the value of one. */
  'header-parameters': {
    words: [
      'form-data; ',
      'name=',
      'filename="',
      '"',
      '\\"',
      '\\\\',
      '\\',
      '; ',
      ';',
      '=',
      ' ',
      '\t',
      '__proto__=',
      'a=b',
      '";x="',
      ';;',
      '"="',
    ],
    seeds: ['form-data; name="file"; filename="a.txt"', 'form-data; a=b; c="d\\"; e=f"', 'x;y;z=1'],
    stepsPerByte: 20,
    check(input) {
      const parameters = headerParameters(input);
      expect(parameters.size).toBeLessThanOrEqual(16);
      for (const name of parameters.keys()) expect(name).toBe(name.trim().toLowerCase());
      const quoted = input.replace(/["\\]/g, '\\$&');
      expect([...headerParameters(`form-data; a="${quoted}"; b=c`)]).toEqual([
        ['a', input],
        ['b', 'c'],
      ]);
    },
  },

  /** A file name in UTF-8, or in what is not UTF-8, and after a line break the type that the client declares. */
  'file-name': {
    words: [
      '/',
      '\\',
      '..',
      '.',
      '.tar.gz',
      '.txt',
      '\xe2\x80\xae',
      '\xcc\x81',
      'a\xcc\x81',
      '\xc3\xa4',
      '\xf0\x9f\x98\x80',
      '\xe2\x80\x8d',
      '\xed\xa0\x80',
      '\0',
      '\x7f',
      '\x85',
      ' ',
      '%22',
      '"',
      '\n',
      'text/html',
      'image/png',
      '; charset=utf-8',
      'application/octet-stream',
      'x'.repeat(100),
      '\xef\xbb\xbf',
    ],
    seeds: [
      'photo.jpg\nimage/jpeg',
      'C:\\dir\\na\xc3\xafve.tar.gz\nTEXT/plain; charset="utf-8"',
      '...\ntext/csv',
      `${'\xf0\x9f\x98\x80'.repeat(90)}.txt\n`,
    ],
    stepsPerByte: 20,
    check(input) {
      const [sent = '', declared] = bytesOf(input).toString().split('\n');
      const type = mediaType(declared, sent);
      expect(type).toMatch(/^[\x20-\x7e]{3,320}$/);
      expect(mediaType(type, sent)).toBe(type);
      const name = cleanFileName(sent, type);
      expect(name).toMatch(/^[^/\\\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+$/u);
      expect(name).not.toMatch(/^\.{1,2}$/);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(cleanFileName(name, type)).toBe(name);
      const header = contentDisposition(name, type);
      expect(header).toMatch(/^(inline|attachment); [\x20-\x7e]+$/);
      expect(decodeURIComponent((headerParameters(header).get('filename*') ?? '').replace("UTF-8''", ''))).toBe(name);
    },
  },

  /** The query of a list. */
  query: {
    words: [
      'page=',
      'limit=',
      'search=',
      '&',
      '=',
      '%',
      '%00',
      '%f0%9f%98%80',
      '+',
      '-',
      '1e3',
      '0x1',
      '00000000001',
      '1.0',
      'NaN',
      '__proto__=',
      ' 1',
      '%0a1',
      '\xd9\xa1',
    ],
    seeds: ['page=2&limit=100&search=a%20b', 'page=1&page=2', 'limit=101', 'page=-1', 'search='],
    stepsPerByte: 20,
    check(input) {
      const parameters = new URLSearchParams(input);
      const query = Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
      const event = eventOf({ multiValueQueryStringParameters: query });
      for (const [name, rule] of Object.entries(LIST_QUERY)) {
        const value = onlyInvalid(() => queryInteger(event, name, rule));
        if (value === undefined) continue;
        expect(value).toSatisfy(
          (number: number) => Number.isInteger(number) && number >= rule.min && number <= rule.max,
        );
        if (parameters.has(name)) expect(parameters.get(name)?.replace(/^0+/, '')).toBe(String(value));
      }
      const text = onlyInvalid(() => queryText(event, 'search'));
      if (text !== undefined) expect(parameters.getAll('search')).toEqual([text]);
    },
  },

  /** `Cookie` headers, one a line. */
  cookies: {
    words: [
      'session=',
      '__Host-session=',
      'login-',
      '=',
      ';',
      '; ',
      '"',
      ',',
      '\\',
      ' ',
      '\n',
      '__proto__=x',
      'a=b',
      '\0',
      '\xe4',
      'A'.repeat(43),
      `${'A'.repeat(43)}.${'B'.repeat(43)}.${'C'.repeat(43)}.1700000000`,
    ],
    seeds: [
      'session=AAAA; a=b',
      'a=1\nb=2; a=3',
      `login-6e340b9cffb37a98=${'A'.repeat(43)}.${'B'.repeat(43)}.${'C'.repeat(43)}.1700000000`,
      '"; session=x; a="b c"',
    ],
    stepsPerByte: 20,
    check(input) {
      const headers = input.split('\n');
      const cookies = parseCookies(headers);
      expect(parseCookies(headers.flatMap((header) => header.split(';')))).toEqual(cookies);
      expect(parseCookies([cookies.map(({ name, value }) => `${name}=${value}`).join('; ')])).toEqual(cookies);
      for (const { name, value } of cookies) {
        expect(`${name}=${value}`).toMatch(/^[\x21-\x7e]+$/);
        expect(soleCookie(cookies, name)).toBe(
          cookies.filter((one) => one.name === name).length === 1 ? value : undefined,
        );
        try {
          expect(findAttempt(value.slice(0, 43), cookies, { isSecure: false, now: 1_700_000_000_000 }).state).toBe(
            value.slice(0, 43),
          );
        } catch (error) {
          if (!(error instanceof LoginError)) throw error;
        }
      }
    },
  },

  /** An API key. A single wrong character is noticed without a read. */
  key: {
    words: ['svc_test_', 'svc_live_', 'svc_', SECRET, 'Bearer ', '\n', ' ', '_', '0'.repeat(43), '000000', '\xe4'],
    seeds: [
      wellFormed('svc_test_'),
      wellFormed('svc_live_'),
      `${wellFormed('svc_test_')}\n`,
      wellFormed('svc_test_').toUpperCase(),
    ],
    stepsPerByte: 20,
    check(input) {
      if (!isWellFormedKey(input)) return;
      expect(input).toMatch(/^svc_(live|test)_[0-9A-Za-z]{49}$/);
      for (let at = 'svc_test_'.length; at < input.length; at++) {
        const other = input[at] === 'A' ? 'B' : 'A';
        expect(isWellFormedKey(input.slice(0, at) + other + input.slice(at + 1))).toBe(false);
      }
    },
  },

  /** A JSON body, as each route reads it, and an `Idempotency-Key` in the first line. */
  json: {
    words: [
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      'null',
      'true',
      '"name":',
      '"mime_type":"text/plain"',
      '"size_bytes":',
      '"checksum_sha256":',
      '"__proto__":{"polluted":1}',
      '"constructor":',
      '1e400',
      '-0',
      '9007199254740993',
      '0.5',
      '\\u0000',
      '\\ud800',
      '\\u202e',
      '\xef\xbb\xbf',
      '\xff',
      ' ',
      '\n',
      '[['.repeat(400),
    ],
    seeds: [
      'key\n{"name":"a.txt","mime_type":"text/plain","size_bytes":5}',
      '\n{"name":"laptop"}',
      'a\n{"name":null,"size_bytes":-1}',
      `k\n{"name":"a","mime_type":"b/c","size_bytes":1,"checksum_sha256":"${'A'.repeat(43)}="}`,
    ],
    stepsPerByte: 20,
    async check(input) {
      const [first = '', ...rest] = input.split('\n');
      const multiValueHeaders = { 'Content-Type': ['application/json; charset=utf-8'], 'Idempotency-Key': [first] };
      const event = eventOf({
        body: bytesOf(rest.join('\n')).toString('base64'),
        isBase64Encoded: true,
        multiValueHeaders,
      });
      const given = onlyInvalid(() => idempotencyKey(event));
      if (given !== undefined) expect(given).toBe(first);
      const body = onlyInvalid(() => jsonBody(event));
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      if (body === undefined) return;
      expect(Object.values(body)).not.toContain(null);
      const ticket = onlyInvalid(() => parseTicketRequest(body, 1_000));
      if (ticket) {
        expect(ticket).toMatchObject({
          name: cleanFileName(ticket.name, ticket.mimeType),
          mimeType: expect.stringContaining('/'),
        });
        expect(ticket.sizeBytes).toSatisfy((bytes: number) => Number.isInteger(bytes) && bytes >= 0 && bytes <= 1_000);
      }
      const keys = { add: async () => 'added' as const, list: async () => [], remove: async () => false };
      const key = await createApiKey(keys, { accountId: 'a', name: body.name, kind: 'test', deadlineAt: 0 }).catch(
        invalid,
      );
      if (key) expect(key).toMatchObject({ name: body.name, key: expect.toSatisfy(isWellFormedKey) });
    },
  },
};

const bytesOf = (input: string) => Buffer.from(input, 'latin1');

const BOUNDARY = 'x'.repeat(70);

/** True for a reading that can be written as a form again: its name has nothing that clients write as an escape. */
function isPlain({ filename = '', contentType = '' }: Reading): boolean {
  return !/%(?:22|0D|0A)|=\?/.test(filename) && !/[\r\n]/.test(contentType) && !bytesOf(contentType).includes(0xff);
}

function formOf({ filename, contentType, content = Buffer.alloc(0) }: Reading): Buffer {
  const escaped = filename?.replace(/["\\]/g, '\\$&').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const head = disposition(escaped === undefined ? '' : `; filename="${escaped}"`);
  const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`;
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n${head}${type}\r\n\r\n`),
    content,
    Buffer.from(`\r\n--${BOUNDARY}--`),
  ]);
}

/** The errors that a client causes; anything else is a defect. */
function invalid(error: unknown): undefined {
  if (error instanceof ApiError && error.status < 500) return undefined;
  throw error;
}

function onlyInvalid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return invalid(error);
  }
}

export function eventOf(parts: Partial<ApiEvent>): ApiEvent {
  const nothing = { multiValueHeaders: {}, multiValueQueryStringParameters: null, pathParameters: null, body: null };
  const requestContext = { requestId: 'r', identity: { sourceIp: '198.51.100.7' } };
  return { httpMethod: 'POST', path: '/', isBase64Encoded: false, requestContext, ...nothing, ...parts };
}
