import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { credentialsOf, type Principal } from '../../../local-aws/aws-front/principals.ts';
import { signRequest } from '../../../local-aws/aws-front/signature.ts';
import { ACCOUNT, ADMIN, allow, BUCKET, dynamoDbClient, failureOf, frontOfFile, principal, s3Client } from './front.ts';

/** A principal with temporary credentials, as functions have them. */
const SESSION = { ...credentialsOf('session'), name: 'session', policies: [allow('*', '*')] };
const front = await frontOfFile({ principals: [SESSION] });
const { host } = new URL(front.endpoint);
await s3Client(front).send(new PutObjectCommand({ Bucket: BUCKET, Key: 'key', Body: 'hello' }));

const getObject = (credentials: Principal, region?: string) =>
  s3Client(front, credentials, region ? { region } : {}).send(new GetObjectCommand({ Bucket: BUCKET, Key: 'key' }));
const getItem = (credentials: Principal, region?: string) =>
  dynamoDbClient(front, credentials, region ? { region } : {}).send(
    new GetItemCommand({ TableName: 'table', Key: { id: { S: '1' } } }),
  );
const whoAmI = (credentials: Principal, region = ACCOUNT.region) =>
  new STSClient({ endpoint: front.endpoint, region, credentials, maxAttempts: 1 }).send(new GetCallerIdentityCommand());
const presign = (credentials: Principal, options = {}) =>
  getSignedUrl(s3Client(front, credentials), new GetObjectCommand({ Bucket: BUCKET, Key: 'key' }), options);
const fetchFromS3 = async (url: string, init?: RequestInit) => {
  const answer = await fetch(url, init);
  return [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]];
};

const { sessionToken: _, ...WITHOUT_TOKEN } = SESSION;
const UNKNOWN_TO_S3 = ['InvalidAccessKeyId', 403] as const;
const BAD_TOKEN = ['InvalidToken', 400] as const;

test.each<[string, Principal, { s3: readonly [string, number]; json: string; sts: string }]>([
  [
    'an unknown key',
    principal('stranger'),
    { s3: UNKNOWN_TO_S3, json: 'UnrecognizedClientException', sts: 'InvalidClientTokenId' },
  ],
  [
    'another secret',
    { ...ADMIN, secretAccessKey: 'x' },
    { s3: ['SignatureDoesNotMatch', 403], json: 'InvalidSignatureException', sts: 'SignatureDoesNotMatch' },
  ],
  [
    'a session token that does not belong to its permanent key',
    { ...ADMIN, sessionToken: SESSION.sessionToken },
    { s3: BAD_TOKEN, json: 'UnrecognizedClientException', sts: 'InvalidClientTokenId' },
  ],
  [
    'a temporary key and no session token',
    WITHOUT_TOKEN,
    { s3: UNKNOWN_TO_S3, json: 'UnrecognizedClientException', sts: 'InvalidClientTokenId' },
  ],
  [
    'the session token of another',
    { ...SESSION, sessionToken: credentialsOf('other').sessionToken },
    { s3: BAD_TOKEN, json: 'UnrecognizedClientException', sts: 'InvalidClientTokenId' },
  ],
])('a call with %s is refused', async (_name, credentials, { s3: [s3Error, s3Status], json, sts }) => {
  expect(await failureOf(getObject(credentials))).toEqual({ name: s3Error, status: s3Status });
  expect(await fetchFromS3(await presign(credentials))).toEqual([s3Status, s3Error]);
  expect(await failureOf(getItem(credentials))).toEqual({ name: json, status: 400 });
  expect(await failureOf(whoAmI(credentials))).toEqual({ name: sts, status: 403 });
});

test('a call with temporary credentials and their session token is answered', async () => {
  expect((await getObject(SESSION)).ContentLength).toBe(5);
  expect(await fetchFromS3(await presign(SESSION))).toEqual([200, undefined]);
  expect((await failureOf(getItem(SESSION))).name).toBe('ResourceNotFoundException');
  expect((await whoAmI(SESSION)).Arn).toContain('assumed-role/session/');
});

test.each([-10, 10])(
  'calls go on being answered when the clock of the machine steps by %i minutes',
  async (minutes) => {
    const caller = new STSClient({ endpoint: front.endpoint, ...ACCOUNT, credentials: ADMIN, maxAttempts: 1 });
    const call = async () => (await caller.send(new GetCallerIdentityCommand())).Arn;
    const arn = await call();
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
    // A client learns the time from each answer, and signs the next call with it.
    expect([await call(), await call(), await call()]).toEqual([arn, arn, arn]);
  },
);

test('a session token that the signature does not cover is refused', async () => {
  const signed = await signRequest({ method: 'GET', url: `/${BUCKET}/key`, headers: { host } }, WITHOUT_TOKEN, {
    ...ACCOUNT,
    service: 's3',
  });
  const headers = { ...signed, 'x-amz-security-token': SESSION.sessionToken };
  expect(await fetchFromS3(`${front.endpoint}/${BUCKET}/key`, { headers })).toEqual([403, 'AccessDenied']);
});

test('a call that was signed for another region is refused', async () => {
  expect((await failureOf(getObject(ADMIN, 'eu-west-1'))).name).toBe('AuthorizationHeaderMalformed');
  expect((await failureOf(getItem(ADMIN, 'eu-west-1'))).name).toBe('InvalidSignatureException');
  expect((await failureOf(whoAmI(ADMIN, 'eu-west-1'))).name).toBe('SignatureDoesNotMatch');
});

describe('a signed request', () => {
  const url = `/${BUCKET}/key`;
  const signed = (more: { now?: Date; url?: string; headers?: Record<string, string>; payloadHash?: string } = {}) =>
    signRequest({ method: 'GET', url, headers: { host }, ...more }, ADMIN, {
      ...ACCOUNT,
      service: 's3',
      ...(more.now && { now: more.now }),
    });
  const send = (headers: Record<string, string>, path = url, method = 'GET', body?: string) =>
    fetchFromS3(front.endpoint + path, { method, headers, ...(body !== undefined && { body }) });
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

  test('is accepted as it was signed, however its URL is encoded', async () => {
    expect(await send(await signed())).toEqual([200, undefined]);
    expect(await send(await signed(), `/${BUCKET}/%6b%65%79`)).toEqual([200, undefined]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['path', async () => send(await signed(), `/${BUCKET}/other`)],
    ['query', async () => send(await signed(), `${url}?prefix=x`)],
    ['method', async () => [(await send(await signed(), url, 'HEAD'))[0], 'SignatureDoesNotMatch']],
    [
      'time of the same day',
      async () => {
        const headers = await signed();
        const other = String(headers['x-amz-date']).replace(/..Z$/, (second) => (second === '00Z' ? '01Z' : '00Z'));
        return send({ ...headers, 'x-amz-date': other });
      },
    ],
    ['payload hash', async () => send({ ...(await signed()), 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' })],
    ['header', async () => send({ ...(await signed({ headers: { host, range: 'bytes=0-1' } })), range: 'bytes=0-2' })],
  ])('a signed request with another %s is refused', async (_, request) => {
    expect(await request()).toEqual([403, 'SignatureDoesNotMatch']);
  });

  test('a signed request with an unsigned x-amz- header is refused', async () => {
    expect(await send({ ...(await signed()), 'x-amz-checksum-mode': 'ENABLED' })).toEqual([403, 'AccessDenied']);
  });

  test.each([
    ['14 minutes ago', 200, 14, undefined],
    ['16 minutes ago', 403, 16, 'RequestTimeTooSkewed'],
    ['by a clock that is 14 minutes ahead', 200, -14, undefined],
    ['by a clock that is 16 minutes ahead', 403, -16, 'RequestTimeTooSkewed'],
  ])('a request signed %s is answered %i', async (_name, status, minutes, code) => {
    expect(await send(await signed({ now: minutesAgo(minutes) }))).toEqual([status, code]);
  });

  test('a request with a body that has another hash is refused, and nothing is stored', async () => {
    const payloadHash = (await signed())['x-amz-content-sha256'] ?? '';
    const headers = await signRequest({ method: 'PUT', url, headers: { host }, payloadHash }, ADMIN, {
      ...ACCOUNT,
      service: 's3',
    });
    expect(await send(headers, url, 'PUT', 'forged')).toEqual([400, 'XAmzContentSHA256Mismatch']);
    expect((await getObject(ADMIN)).ContentLength).toBe(5);
  });

  test('a signed request with an unknown word in place of the hash of its body is refused', async () => {
    expect(await send(await signed({ payloadHash: 'whatever' }))).toEqual([400, 'InvalidRequest']);
  });

  test('a body in signed chunks is not implemented', async () => {
    const payloadHash = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
    expect(await send(await signed({ payloadHash }))).toEqual([501, 'NotImplemented']);
  });

  test.each([
    ['AWS AKID:signature', 'InvalidArgument'],
    ['Bearer token', 'InvalidArgument'],
    ['AWS4-HMAC-SHA256 Credential=x', 'AuthorizationHeaderMalformed'],
    [
      'AWS4-HMAC-SHA256 Credential=a/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=zz',
      'AuthorizationHeaderMalformed',
    ],
  ])('a request with the header %j is refused', async (authorization, code) => {
    expect(await send({ authorization })).toEqual([400, code]);
  });
});

describe('a presigned URL', () => {
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);

  test.each([
    ['at once', 200, 0, undefined],
    ['after 880 seconds', 200, 880, undefined],
    ['after 910 seconds', 403, 910, 'AccessDenied'],
    ['1,000 seconds before the time of its signature', 403, -1_000, 'RequestTimeTooSkewed'],
  ])('a presigned URL of 15 minutes that is used %s is answered %i', async (_name, status, age, code) => {
    expect(await fetchFromS3(await presign(ADMIN, { signingDate: secondsAgo(age), expiresIn: 900 }))).toEqual([
      status,
      code,
    ]);
  });

  test.each<[string, (url: URL) => void, number, string]>([
    ['changed to another key', (url) => (url.pathname += 'x'), 403, 'SignatureDoesNotMatch'],
    ['changed to a longer time', (url) => url.searchParams.set('X-Amz-Expires', '901'), 403, 'SignatureDoesNotMatch'],
    [
      'changed to a time that is too long',
      (url) => url.searchParams.set('X-Amz-Expires', '604801'),
      400,
      'AuthorizationQueryParametersError',
    ],
    ['without a time', (url) => url.searchParams.delete('X-Amz-Expires'), 400, 'AuthorizationQueryParametersError'],
    [
      'without a signature',
      (url) => url.searchParams.delete('X-Amz-Signature'),
      400,
      'AuthorizationQueryParametersError',
    ],
    ['with an added parameter', (url) => url.searchParams.set('x-id', 'y'), 403, 'SignatureDoesNotMatch'],
  ])('a presigned URL %s is refused', async (_, change, status, code) => {
    const url = new URL(await presign(ADMIN));
    change(url);
    expect(await fetchFromS3(url.href)).toEqual([status, code]);
  });
});

test('a presigned URL with an Authorization header beside it is refused, as on S3', async () => {
  const answer = await fetch(await presign(ADMIN), { headers: { authorization: 'Bearer token' } });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('Only one auth mechanism')]);
});

test('a call without a signature is refused by S3, when the bucket is private, and by DynamoDB', async () => {
  const s3 = await fetch(`${front.endpoint}/${BUCKET}/key`);
  expect([s3.status, await s3.text()]).toEqual([403, expect.stringContaining('<Code>AccessDenied</Code>')]);
  const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem' };
  const dynamoDb = await fetch(front.endpoint, { method: 'POST', headers, body: '{}' });
  expect(await dynamoDb.json()).toMatchObject({ __type: expect.stringContaining('MissingAuthenticationToken') });
});

test('a call of an unknown service is refused with the name of the service', async () => {
  const headers = await signRequest({ method: 'POST', url: '/', headers: { host } }, ADMIN, {
    ...ACCOUNT,
    service: 'sns',
  });
  const answer = await fetch(front.endpoint, { method: 'POST', headers });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('no service sns')]);
});
