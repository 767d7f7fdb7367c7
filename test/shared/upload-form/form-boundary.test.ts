import { describe, expect, test } from 'vitest';
import { formBoundary } from '../../../shared/upload-form/form-reader.ts';

const EVERY_CHARACTER = "0123456789azAZ'()+_,-./:=?";

describe('the boundary of a form', () => {
  test.each([
    ['a bare one', 'multipart/form-data; boundary=abc', 'abc'],
    ['a quoted one (.NET)', 'multipart/form-data; boundary="a b"', 'a b'],
    ['one of every legal character, quoted', `multipart/form-data; boundary="${EVERY_CHARACTER}"`, EVERY_CHARACTER],
    ['one of every legal character, bare', `multipart/form-data; boundary=${EVERY_CHARACTER}`, EVERY_CHARACTER],
    ['1 character', 'multipart/form-data; boundary=x', 'x'],
    ['70 characters', `multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
    ['in any letter case of type and parameter', 'Multipart/Form-Data; BOUNDARY=aBc', 'aBc'],
    ['after another parameter', 'multipart/form-data; charset=utf-8; boundary=abc', 'abc'],
    ['before another parameter', 'multipart/form-data; boundary=abc; charset=utf-8', 'abc'],
    ['after a parameter called __proto__', 'multipart/form-data; __proto__=x; boundary=abc', 'abc'],
    ['the first of two', 'multipart/form-data; boundary=one; boundary=two', 'one'],
    ['without a space before it', 'multipart/form-data;boundary=abc', 'abc'],
    ['between spaces', ' multipart/form-data ;  boundary = abc ', 'abc'],
    ['after two semicolons', 'multipart/form-data;; boundary=abc;', 'abc'],
  ])('is found: %s', (_, header, boundary) => {
    expect(formBoundary(header)).toBe(boundary);
  });

  test.each([
    ['absent', 'multipart/form-data'],
    ['absent after a semicolon', 'multipart/form-data;'],
    ['empty', 'multipart/form-data; boundary='],
    ['empty in quotes', 'multipart/form-data; boundary=""'],
    ['71 characters long', `multipart/form-data; boundary=${'x'.repeat(71)}`],
    ['252 characters long', `multipart/form-data; boundary=${'x'.repeat(252)}`],
    ['followed by a space inside its quotes', 'multipart/form-data; boundary="abc "'],
    ['written with an illegal character', 'multipart/form-data; boundary=a*b'],
    ['not ASCII', 'multipart/form-data; boundary=é'],
    ['broken over two lines', 'multipart/form-data; boundary="a\r\nb"'],
    ['missing its closing quote', 'multipart/form-data; boundary="a;b'],
  ])('that is %s is refused with invalid_request', (_, header) => {
    expect(() => formBoundary(header)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

test.each([
  [undefined],
  [''],
  ['application/json'],
  ['multipart/mixed; boundary=abc'],
  ['multipart/form-data-x; boundary=abc'],
  ['text/plain; x=multipart/form-data; boundary=abc'],
  ['application/x-www-form-urlencoded'],
])('the Content-Type %j is refused with unsupported_media_type', (header) => {
  expect(() => formBoundary(header)).toThrow(expect.objectContaining({ code: 'unsupported_media_type' }));
});
