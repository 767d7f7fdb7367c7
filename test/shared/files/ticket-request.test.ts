import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseTicketRequest } from '../../../shared/files/create-ticket.ts';

const MAX = 100;
const BODY = { name: 'a.txt', mime_type: 'text/plain', size_bytes: 5 };
const CHECKSUM = createHash('sha256').update('hello').digest('base64');

describe('a ticket may be requested', () => {
  test.each([0, 1, MAX - 1, MAX])('a request for %i bytes is accepted', (size_bytes) => {
    expect(parseTicketRequest({ ...BODY, size_bytes }, MAX).sizeBytes).toBe(size_bytes);
  });

  test('a request with a checksum is accepted', () => {
    expect(parseTicketRequest({ ...BODY, checksum_sha256: CHECKSUM }, MAX)).toEqual({
      name: 'a.txt',
      mimeType: 'text/plain',
      sizeBytes: 5,
      checksumSha256: CHECKSUM,
    });
  });

  test('a bad name and a bad type are cleaned like those of a form', () => {
    const body = { ...BODY, name: '../../etc/\u202Ex.png', mime_type: 'nonsense' };
    expect(parseTicketRequest(body, MAX)).toMatchObject({ name: 'x.png', mimeType: 'image/png' });
  });
});

describe('a ticket may not be requested', () => {
  test.each([
    ['without a name', { name: undefined }],
    ['with a type that is not a string', { mime_type: null }],
    ['without a size', { size_bytes: undefined }],
    ['with a size that JavaScript cannot hold exactly', { size_bytes: 2 ** 53 }],
    ['with infinitely many bytes', { size_bytes: Number.POSITIVE_INFINITY }],
    ['with null for a checksum', { checksum_sha256: null }],
    ['with a checksum in hex', { checksum_sha256: Buffer.from(CHECKSUM, 'base64').toString('hex') }],
    ['with a checksum of 31 bytes', { checksum_sha256: Buffer.alloc(31).toString('base64') }],
    ['with a checksum of 33 bytes', { checksum_sha256: Buffer.alloc(33).toString('base64') }],
    ['with a checksum without its padding', { checksum_sha256: CHECKSUM.slice(0, -1) }],
    [
      'with a checksum in URL-safe base64',
      { checksum_sha256: Buffer.alloc(32, 0xff).toString('base64url').concat('=') },
    ],
    ['with a checksum whose unused last bits are not zero', { checksum_sha256: 'A'.repeat(42).concat('B=') }],
  ])('%s', (_, members) => {
    expect(() => parseTicketRequest({ ...BODY, ...members }, MAX)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});
