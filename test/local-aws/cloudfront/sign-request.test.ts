import { expect, test } from 'vitest';
import type { HeaderMap } from '../../../local-aws/cloudfront/header-map.ts';
import { signForS3 } from '../../../local-aws/cloudfront/origin-client.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};

async function signature(target: string, hasBody = false): Promise<HeaderMap> {
  const headers: HeaderMap = new Map([
    ['host', ['examplebucket.s3.amazonaws.com']],
    ['authorization', ['Bearer viewer']],
  ]);
  const now = new Date('2013-05-24T00:00:00Z');
  await signForS3({ method: 'GET', target, headers }, CREDENTIALS, { hasBody, now });
  return headers;
}

// The examples of the S3 API Reference, "Signature Calculations for the Authorization Header".
test.each([
  ['/?lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  ['/?max-keys=2&prefix=J', '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
])('%s is signed as AWS signs it', async (target, expected) => {
  expect((await signature(target)).get('authorization')).toEqual([
    `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${expected}`,
  ]);
});

test.each([
  ['/a%2Bb', '/a+b'],
  ['/%7Ex', '/~x'],
  ['/a?b=%2a&a=1', '/a?a=1&b=*'],
])('%s and %s name one object, so they have one signature', async (one, other) => {
  expect((await signature(one)).get('authorization')).toEqual((await signature(other)).get('authorization'));
});

test('a path that is not UTF-8 is signed as it stands', async () => {
  const [lower, upper] = [await signature('/%ff'), await signature('/%FF')];
  expect(lower.get('authorization')).not.toEqual(upper.get('authorization'));
});

test('a body is not hashed', async () => {
  const headers = await signature('/x', true);
  expect(headers.get('x-amz-content-sha256')).toEqual(['UNSIGNED-PAYLOAD']);
});
