import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { decodeChunked } from '../../../local-aws/aws-front/s3-payload.ts';
import { expectedSignature, sha256Hex } from '../../../local-aws/aws-front/signature.ts';

// The examples of AWS's own documentation: S3 API, "Authenticating requests: using the Authorization header" and "Transferring
// payload in multiple chunks".
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const timestamp = '20130524T000000Z';
const payloadHash = sha256Hex('');

test.each([
  ['a GET with a range', '/test.txt', 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41', 'bytes=0-9'],
  [
    'a list with parameters',
    '/?prefix=J&max-keys=2',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('the signature of %s is the one that AWS documents', async (_, url, documented, range?: string) => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-content-sha256': payloadHash,
    'x-amz-date': timestamp,
    ...(range !== undefined && { range }),
  };
  const claim = { scope, timestamp, signedHeaders: Object.keys(headers), payloadHash };
  const { signature } = expectedSignature({ method: 'GET', url, headers }, credentials, claim);
  expect(signature).toBe(documented);
});

describe('a body in chunks with a trailer', () => {
  const CONTENT = Buffer.alloc(66_560, 'a');

  /** The content in chunks of 64 KiB and 1 KiB, which comes in pieces of another size. */
  async function* framed(trailer: readonly string[], piece: number) {
    const chunks = [CONTENT.subarray(0, 65_536), CONTENT.subarray(65_536)];
    const frames = chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]);
    const end = Buffer.from(['0', ...trailer, ''].map((line) => `${line}\r\n`).join(''));
    const body = Buffer.concat([...frames, end]);
    for (let at = 0; at < body.length; at += piece) yield body.subarray(at, at + piece);
  }

  test.each([1, 1_000, 70_000])(
    'is decoded, and its trailer read, when it comes in pieces of %i bytes',
    async (piece) => {
      const trailers = new Map<string, string>();
      const content = await buffer(decodeChunked(framed(['X-Amz-Checksum-CRC32: sOO8/Q=='], piece), trailers));
      expect(content.equals(CONTENT)).toBe(true);
      expect([...trailers]).toEqual([['x-amz-checksum-crc32', 'sOO8/Q==']]);
    },
  );

  test('is refused when its trailer is not a header', async () => {
    const decoded = buffer(decodeChunked(framed(['no header'], 1_000), new Map()));
    await expect(decoded).rejects.toMatchObject({ code: 'MalformedTrailerError' });
  });
});
