import { connect } from 'node:net';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterEach, describe, expect, test } from 'vitest';
import { failureOf } from '../aws-front/front.ts';
import { s3OfFile } from './s3-of-file.ts';

const { bucket: BUCKET, client, drafts } = await s3OfFile();
const s3 = client();
/** The setting of our service: the SDK adds no checksum where none is required. */
const plainS3 = client({ requestChecksumCalculation: 'WHEN_REQUIRED' });

const put = (more: Partial<PutObjectCommandInput>, sender = s3) =>
  sender.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'object', Body: 'hello', ...more }));
const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket: BUCKET, Key, ChecksumMode: 'ENABLED' }));
const presign = (input: Partial<PutObjectCommandInput>, options = {}) =>
  getSignedUrl(plainS3, new PutObjectCommand({ Bucket: BUCKET, Key: 'object', ...input }), options);
const codeOf = async (response: Response) => /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1];

afterEach(() => expect(drafts()).toEqual([]));

const MD5 = 'XUFAKrxLKna5cZ2REBfFkg==';
const SHA256 = 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=';

describe('content whose digest is given', () => {
  test.each<[string, Partial<PutObjectCommandInput>]>([
    ['MD5', { ContentMD5: MD5 }],
    ['SHA-256', { ChecksumSHA256: SHA256 }],
    ['CRC32', { ChecksumCRC32: 'NhCmhg==' }],
    ['SHA-256 as the SDK computes it', { ChecksumAlgorithm: 'SHA256' }],
  ])('is stored when its %s matches', async (_name, digest) => {
    await put({ Key: 'fits', ...digest });
    expect(await head('fits')).toMatchObject('ContentMD5' in digest || 'ChecksumAlgorithm' in digest ? {} : digest);
  });

  test.each<[string, Partial<PutObjectCommandInput>, string]>([
    ['the MD5 of other content', { ContentMD5: '1B2M2Y8AsgTpgAmY7PhCfg==' }, 'BadDigest'],
    ['an MD5 that is too short', { ContentMD5: 'short' }, 'InvalidDigest'],
    ['the SHA-256 of other content', { ChecksumSHA256: 'A'.repeat(43).concat('=') }, 'BadDigest'],
    ['a SHA-256 that is too short', { ChecksumSHA256: 'short' }, 'InvalidRequest'],
    ['the CRC32 of other content', { ChecksumCRC32: 'AAAAAA==' }, 'BadDigest'],
    ['two checksums', { ChecksumSHA256: SHA256, ChecksumCRC32: 'NhCmhg==' }, 'InvalidRequest'],
  ])('is refused with %s', async (_name, digest, name) => {
    expect((await failureOf(put({ Key: 'refused', ...digest }))).name).toBe(name);
    expect((await failureOf(head('refused'))).status).toBe(404);
  });
});

describe('a stream whose checksum comes after it', () => {
  // The SDK warns that it could not send a stream a second time. These tests send streams on purpose.
  const ignore = () => {};
  const logger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
  const streaming = client({ logger });
  const bytes = Buffer.alloc(300_000, 'stream');
  const body = (size: number) => {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    return { Body: Readable.from(chunks, { objectMode: false }), ContentLength: bytes.length };
  };

  test('is stored without its framing', async () => {
    await put({ Key: 'streamed', ...body(65_536), ContentEncoding: 'gzip' }, streaming);
    const answer = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'streamed' }));
    expect(answer).toMatchObject({ ContentEncoding: 'gzip', ContentLength: bytes.length });
    expect(Buffer.from((await answer.Body?.transformToByteArray()) ?? [])).toEqual(bytes);
    expect((await head('streamed')).ChecksumCRC32).toBeDefined();
  });

  test('is refused in chunks that are smaller than S3 allows', async () => {
    const small = put({ Key: 'small', ...body(8_191) }, streaming);
    expect(await failureOf(small)).toEqual({ name: 'InvalidChunkSizeError', status: 403 });
    await put({ Key: 'small', ...body(8_192) }, streaming);
  });

  test('is refused when it is shorter than announced', async () => {
    const cut = put({ Key: 'cut', ...body(65_536), ContentLength: bytes.length + 1 }, streaming);
    expect((await failureOf(cut)).name).toBe('IncompleteBody');
    expect((await failureOf(head('cut'))).status).toBe(404);
  });
});

describe('a presigned upload', () => {
  test('is stored as it was signed', async () => {
    const url = await presign(
      { ContentLength: 5, ContentType: 'text/plain', IfNoneMatch: '*', ChecksumSHA256: SHA256, Key: 'signed' },
      { signableHeaders: new Set(['content-type']), unhoistableHeaders: new Set(['x-amz-checksum-sha256']) },
    );
    const headers = { 'content-type': 'text/plain', 'if-none-match': '*', 'x-amz-checksum-sha256': SHA256 };
    const send = () => fetch(url, { method: 'PUT', body: 'hello', headers });
    expect((await send()).status).toBe(200);
    expect(await head('signed')).toMatchObject({ ContentType: 'text/plain', ChecksumSHA256: SHA256 });
    expect([(await send()).status, await codeOf(await send())]).toEqual([412, 'PreconditionFailed']);
  });

  test.each<[string, string, Record<string, string>]>([
    ['of another length', 'hello!', {}],
    ['of another type', 'hello', { 'content-type': 'text/html' }],
    ['without a signed header', 'hello', { 'if-none-match': '' }],
  ])('%s does not match its signature', async (_, body, more) => {
    const url = await presign(
      { ContentLength: 5, ContentType: 'text/plain', IfNoneMatch: '*' },
      { signableHeaders: new Set(['content-type']) },
    );
    const headers = { 'content-type': 'text/plain', 'if-none-match': '*', ...more };
    const answer = await fetch(url, { method: 'PUT', body, headers });
    expect([answer.status, await codeOf(answer)]).toEqual([403, 'SignatureDoesNotMatch']);
  });

  test('cannot be given metadata that was not signed', async () => {
    const url = await presign({});
    const answer = await fetch(url, { method: 'PUT', body: 'hello', headers: { 'x-amz-meta-file': 'other' } });
    expect([answer.status, await codeOf(answer)]).toEqual([403, 'AccessDenied']);
  });

  test('keeps the metadata that the SDK moved to the query', async () => {
    const url = await presign({ Key: 'hoisted', Metadata: { file: 'a/b' } });
    expect(new URL(url).searchParams.get('x-amz-meta-file')).toBe('a/b');
    expect((await fetch(url, { method: 'PUT', body: 'hello' })).status).toBe(200);
    expect((await head('hoisted')).Metadata).toEqual({ file: 'a/b' });
  });

  test('is not checked against the checksum of an empty body that the SDK adds by default', async () => {
    const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket: BUCKET, Key: 'object' }));
    expect(url).toContain('x-amz-checksum-crc32=AAAAAA');
    expect((await fetch(url, { method: 'PUT', body: 'hello' })).status).toBe(200);
  });

  test('a presigned upload without a type gets S3’s default type', async () => {
    await fetch(await presign({ Key: 'untyped' }), { method: 'PUT', body: Buffer.from('hello') });
    expect((await head('untyped')).ContentType).toBe('binary/octet-stream');
  });

  test('a presigned upload without a length is refused', async () => {
    const body = Readable.toWeb(Readable.from(['hello']));
    const answer = await fetch(await presign({}), { method: 'PUT', body, duplex: 'half' } as RequestInit);
    expect([answer.status, await codeOf(answer)]).toEqual([411, 'MissingContentLength']);
  });
});

describe('a client that waits for 100 Continue', () => {
  /** Sends the head of an upload, and after `100 Continue` and `meanwhile` the body; resolves with all that came back. */
  async function sendWhenInvited(
    url: string,
    headers: Record<string, string>,
    meanwhile = async () => {},
  ): Promise<string> {
    const { host, hostname, port, pathname, search } = new URL(url);
    const head = { host, expect: '100-continue', 'content-length': '5', ...headers };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) {
      answer += chunk;
      if (chunk === 'HTTP/1.1 100 Continue\r\n\r\n') {
        await meanwhile();
        socket.write('hello');
      } else if (answer.includes('\r\n\r\n')) break;
    }
    return answer;
  }

  test('gets it, and then the answer', async () => {
    const answer = await sendWhenInvited(await presign({ Key: 'invited' }), {});
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
    expect(await head('invited')).toMatchObject({ ContentLength: 5 });
  });

  test('is refused without it, and its connection closes', async () => {
    const url = await presign({ Key: 'invited', IfNoneMatch: '*' });
    const answer = await sendWhenInvited(url, { 'if-none-match': '*' });
    expect(answer).toMatch(/^HTTP\/1.1 412 /);
    expect(answer).toContain('connection: close');
  });

  const remove = (Key: string) => s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
  test.each<[string, string, boolean, (key: string) => Promise<unknown>, string]>([
    ['If-None-Match: *', 'a write', false, (Key) => put({ Key }), '412 PreconditionFailed'],
    [
      'If-None-Match: *',
      'a write and a deletion',
      false,
      (Key) => put({ Key }).then(() => remove(Key)),
      '409 ConditionalRequestConflict',
    ],
    ['If-Match', 'a write of the same content', true, (Key) => put({ Key }), '409 ConditionalRequestConflict'],
    ['If-Match', 'a deletion', true, remove, '404 NoSuchKey'],
    ['If-Match', 'no change', true, async () => {}, '200 '],
  ])('with %s meets %s of the object before its body has come', async (condition, _, exists, change, outcome) => {
    const Key = `${condition} ${outcome}`;
    if (exists) await put({ Key });
    const [header, value] = exists
      ? ['if-match', `"${Buffer.from(MD5, 'base64').toString('hex')}"`]
      : ['if-none-match', '*'];
    const url = await presign({ Key, ...(exists ? { IfMatch: value } : { IfNoneMatch: value }) });
    const answer = await sendWhenInvited(url, { [header]: value }, async () => void (await change(Key)));
    const [status = '', code = ''] = outcome.split(' ');
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(code);
  });

  test('with the condition If-Match: *, or with both conditions, is refused, as S3 has neither', async () => {
    for (const conditions of [{ IfMatch: '*' }, { IfMatch: '"x"', IfNoneMatch: '*' }]) {
      expect(await failureOf(put({ Key: 'both', ...conditions }))).toEqual({ name: 'NotImplemented', status: 501 });
    }
  });
});
