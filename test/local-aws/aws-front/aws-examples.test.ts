import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { canonicalRequest, sha256Hex, signingKey, signText } from '../../../local-aws/aws-front/calculate.ts';
import { decodeChunked } from '../../../local-aws/aws-front/s3-payload.ts';

// The examples of AWS's own documentation: "Authenticating requests: using the Authorization header", "Transferring payload
// in multiple chunks", and "… with trailing headers" (S3 API).
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const timestamp = '20130524T000000Z';
const key = signingKey(SECRET, scope);
const signatureOf = (parts: Omit<Parameters<typeof canonicalRequest>[0], 'signedHeaders'>) => {
  const canonical = canonicalRequest({ ...parts, signedHeaders: Object.keys(parts.headers).sort() });
  return signText(key, { timestamp, scope }, sha256Hex(canonical));
};

test('signs a GET with a range', () => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    range: 'bytes=0-9',
    'x-amz-content-sha256': sha256Hex(''),
    'x-amz-date': timestamp,
  };
  const signature = signatureOf({ method: 'GET', url: '/test.txt', headers, payloadHash: sha256Hex('') });
  expect(signature).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
});

test('signs a list with parameters', () => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    'x-amz-content-sha256': sha256Hex(''),
    'x-amz-date': timestamp,
  };
  const signature = signatureOf({ method: 'GET', url: '/?prefix=J&max-keys=2', headers, payloadHash: sha256Hex('') });
  expect(signature).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
});

const CONTENT = Buffer.alloc(66_560, 'a');

/** The body in chunks of 64 KiB and 1 KiB, which comes in pieces of a size that fits neither. */
async function* framed(signatures: readonly string[], trailer: readonly string[], piece = 1_000) {
  const chunks = [CONTENT.subarray(0, 65_536), CONTENT.subarray(65_536), Buffer.alloc(0)];
  const frames = chunks.flatMap((chunk, index) => [
    Buffer.from(`${chunk.length.toString(16)};chunk-signature=${signatures[index]}\r\n`),
    chunk,
    Buffer.from(chunk.length === 0 ? '' : '\r\n'),
  ]);
  const end = Buffer.from([...trailer, ''].map((line) => `${line}\r\n`).join(''));
  const body = Buffer.concat([...frames, end]);
  for (let at = 0; at < body.length; at += piece) yield body.subarray(at, at + piece);
}

describe('a body in signed chunks', () => {
  const chain = {
    key,
    timestamp,
    scope,
    seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  };
  const SIGNATURES = [
    'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
    '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
    'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
  ];
  const decode = (signatures: readonly string[], piece?: number) =>
    buffer(decodeChunked(framed(signatures, [], piece), { chain, hasTrailer: false, trailers: new Map() }));

  test.each([1, 1_000, 70_000])('is decoded when it comes in pieces of %i bytes', async (piece) => {
    expect((await decode(SIGNATURES, piece)).equals(CONTENT)).toBe(true);
  });

  test.each([0, 1, 2])('is refused when the signature of chunk %i is another', async (forged) => {
    const signatures = SIGNATURES.map((signature, index) => (index === forged ? '0'.repeat(64) : signature));
    await expect(decode(signatures)).rejects.toMatchObject({ kind: 'signature-mismatch' });
  });
});

describe('a body in signed chunks with a trailer', () => {
  const chain = {
    key,
    timestamp,
    scope,
    seed: '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  };
  const SIGNATURES = [
    'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
    '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
    '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
  ];
  const decode = async (trailer: readonly string[]) => {
    const trailers = new Map<string, string>();
    const content = await buffer(decodeChunked(framed(SIGNATURES, trailer), { chain, hasTrailer: true, trailers }));
    return { content, trailers };
  };
  const CHECKSUM = 'x-amz-checksum-crc32c:sOO8/Q==';
  const SIGNATURE = 'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435';

  test('is decoded, and its trailer read', async () => {
    const { content, trailers } = await decode([CHECKSUM, SIGNATURE]);
    expect(content.equals(CONTENT)).toBe(true);
    expect([...trailers]).toEqual([['x-amz-checksum-crc32c', 'sOO8/Q==']]);
  });

  test.each([
    ['another checksum', ['x-amz-checksum-crc32c:AAAAAA==', SIGNATURE]],
    ['no signature', [CHECKSUM]],
  ])('is refused when the trailer has %s', async (_, trailer) => {
    await expect(decode(trailer)).rejects.toMatchObject({ kind: 'signature-mismatch' });
  });
});
