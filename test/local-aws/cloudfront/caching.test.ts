import type { RequestListener } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LARGEST_ENTRY_BYTES, memoryCache } from '../../../local-aws/cloudfront/cache.ts';
import { ask, CACHE_BEHAVIOR, MINUTE_CACHE_POLICY, PASS_BEHAVIOR, type Rig, type RigOptions, startRig } from './rig.ts';

interface Stored {
  body: Buffer;
  headers: Record<string, string>;
  status: number;
}

/** A bucket with one object that can change, and the methods, ranges and conditions that it was asked with. */
function bucket(initial: Partial<Stored> = {}) {
  const stored: Stored = { body: Buffer.from('0123456789'), headers: { etag: '"v1"' }, status: 200, ...initial };
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    const condition = request.headers['if-none-match'];
    asked.push([request.method, request.headers.range, condition].filter(Boolean).join(' '));
    for (const [name, value] of Object.entries(stored.headers)) response.setHeader(name, value);
    if (stored.status === 200 && condition && condition === stored.headers.etag) {
      response.writeHead(304).end();
      return;
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    const body = range ? stored.body.subarray(Number(range[1]), Number(range[2]) + 1) : stored.body;
    response.writeHead(range ? 206 : stored.status, { 'content-type': 'text/plain', 'content-length': body.length });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  return { stored, asked, listener };
}

type Bucket = ReturnType<typeof bucket>;

function cachedRig({ listener }: Bucket, ttl: object = {}, options: RigOptions = {}): Promise<Rig> {
  const policy = { CachePolicyConfig: { ...MINUTE_CACHE_POLICY.CachePolicyConfig, ...ttl } };
  return startRig(listener, {
    config: { DefaultCacheBehavior: CACHE_BEHAVIOR },
    resources: { cachePolicies: { minute: policy } },
    ...options,
  });
}

describe('the cache serves an answer for as long as the policy and the origin allow, with', () => {
  test.each([
    ['no header of the origin, so for the default time', {}, {}, 60],
    ['max-age below the maximum', { 'cache-control': 'max-age=7' }, {}, 7],
    ['max-age above the maximum', { 'cache-control': 'public, max-age=3600' }, {}, 60],
    ['max-age below the minimum', { 'cache-control': 'max-age=0' }, { MinTTL: 5 }, 5],
    ['s-maxage before max-age', { 'cache-control': 'max-age=9, s-maxage="3"' }, {}, 3],
    ['Expires', { expires: 'Sat, 21 Nov 2026 12:00:20 GMT' }, {}, 20],
    ['an Expires that is not a date', { expires: '0' }, {}, 0],
    ['no-store', { 'cache-control': 'no-store' }, {}, 0],
    ['private', { 'cache-control': 'private, max-age=9' }, {}, 0],
    ['no-cache', { 'cache-control': 'no-cache' }, {}, 0],
    ['no-store, but a minimum in the policy', { 'cache-control': 'no-store' }, { MinTTL: 4 }, 4],
    ['Vary: *', { vary: '*' }, {}, 0],
  ])('%s', async (_name, headers, ttl, seconds) => {
    const origin = bucket({ headers: { etag: '"v1"', ...headers } });
    const rig = await cachedRig(origin, ttl);
    await ask(rig, '/o');
    if (seconds > 0) {
      rig.advance(seconds - 1);
      expect((await ask(rig, '/o')).headers).toMatchObject({
        'x-cache': 'Hit from cloudfront',
        ...(seconds > 1 && { age: `${seconds - 1}` }),
      });
      expect(origin.asked).toHaveLength(1);
    }
    rig.advance(1);
    await ask(rig, '/o');
    expect(origin.asked).toHaveLength(2);
  });
});

describe('when the lifetime of a cached object is over', () => {
  test('an unchanged object is confirmed by a 304 and served from the cache', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    rig.advance(60);
    const reply = await ask(rig, '/o');
    expect(reply).toMatchObject({ status: 200, text: '0123456789' });
    expect(reply.headers).toMatchObject({ 'x-cache': 'RefreshHit from cloudfront', 'content-type': 'text/plain' });
    expect(reply.headers).not.toHaveProperty('age');
    rig.advance(59);
    expect((await ask(rig, '/o')).headers['x-cache']).toBe('Hit from cloudfront');
    expect(origin.asked).toEqual(['GET', 'GET "v1"']);
  });

  test('a changed object replaces the cached one', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    Object.assign(origin.stored, { body: Buffer.from('new'), headers: { etag: '"v2"' } });
    rig.advance(60);
    expect((await ask(rig, '/o')).text).toBe('new');
    expect((await ask(rig, '/o')).headers['x-cache']).toBe('Hit from cloudfront');
  });

  test('a deleted object is served for less than a minute after the last answer of the origin', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    Object.assign(origin.stored, { status: 404, headers: {}, body: Buffer.from('gone') });
    rig.advance(59);
    expect((await ask(rig, '/o')).status).toBe(200);
    rig.advance(1);
    expect((await ask(rig, '/o')).status).toBe(404);
    rig.advance(60);
    expect((await ask(rig, '/o', { headers: { 'if-none-match': '"v1"' } })).status).toBe(404);
  });

  test('a deleted object is served no longer when the clock of the machine is set back', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin, {}, { isClockOfMachine: true });
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    await ask(rig, '/o');
    Object.assign(origin.stored, { status: 404, headers: {}, body: Buffer.from('gone') });
    vi.advanceTimersByTime(59_000);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect((await ask(rig, '/o')).status).toBe(200);
    vi.advanceTimersByTime(1_000);
    expect((await ask(rig, '/o')).status).toBe(404);
  });

  test.each([
    ['', 100_000, 200],
    ['max-age=60, stale-if-error=30', 89, 200],
    ['max-age=60, stale-if-error=30', 90, 503],
    ['max-age=60, stale-if-error=0', 60, 503],
  ])(
    'while the origin fails, an object with Cache-Control "%s" is answered after %i s with %i',
    async (control, seconds, status) => {
      const origin = bucket({ headers: { etag: '"v1"', ...(control && { 'cache-control': control }) } });
      const rig = await cachedRig(origin);
      await ask(rig, '/o');
      const { headers } = origin.stored;
      Object.assign(origin.stored, { status: 503, headers: {} });
      rig.advance(seconds);
      expect((await ask(rig, '/o')).status).toBe(status);
      Object.assign(origin.stored, { status: 200, headers });
      rig.advance(10);
      expect((await ask(rig, '/o')).text).toBe('0123456789');
    },
  );

  test('a range of an old version gets the whole new object', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    Object.assign(origin.stored, { body: Buffer.from('new'), headers: { etag: '"v2"' } });
    rig.advance(60);
    const reply = await ask(rig, '/o', { headers: { range: 'bytes=1-1', 'if-range': '"v1"' } });
    expect(reply).toMatchObject({ status: 200, text: 'new' });
  });
});

describe('a cached object', () => {
  test.each([
    ['a first range', { range: 'bytes=0-3' }, 206, '0123', 'bytes 0-3/10'],
    ['one byte', { range: 'bytes=9-9' }, 206, '9', 'bytes 9-9/10'],
    ['an open range', { range: 'bytes=7-' }, 206, '789', 'bytes 7-9/10'],
    ['a suffix', { range: 'bytes=-2' }, 206, '89', 'bytes 8-9/10'],
    ['a suffix longer than all', { range: 'bytes=-20' }, 206, '0123456789', 'bytes 0-9/10'],
    ['an end past the end', { range: 'bytes=8-99' }, 206, '89', 'bytes 8-9/10'],
    ['a start past the end', { range: 'bytes=10-' }, 416, '', 'bytes */10'],
    ['an empty suffix', { range: 'bytes=-0' }, 416, '', 'bytes */10'],
    ['a range whose end is before its start', { range: 'bytes=5-2' }, 200, '0123456789', undefined],
    ['two ranges', { range: 'bytes=0-1,3-4' }, 200, '0123456789', undefined],
    ['another unit', { range: 'items=0-1' }, 200, '0123456789', undefined],
    ['a range of this version', { range: 'bytes=0-0', 'if-range': '"v1"' }, 206, '0', 'bytes 0-0/10'],
    ['a range of another version', { range: 'bytes=0-0', 'if-range': '"v0"' }, 200, '0123456789', undefined],
    ['If-None-Match and the cached version', { 'if-none-match': 'W/"v0", W/"v1"' }, 304, '', undefined],
    ['If-None-Match and any version', { 'if-none-match': '*' }, 304, '', undefined],
    ['If-None-Match and another version', { 'if-none-match': '"v0"' }, 200, '0123456789', undefined],
    [
      'If-Modified-Since and no change since',
      { 'if-modified-since': 'Sat, 21 Nov 2026 10:00:00 GMT' },
      304,
      '',
      undefined,
    ],
    [
      'If-Modified-Since and a change since',
      { 'if-modified-since': 'Sat, 21 Nov 2026 09:59:59 GMT' },
      200,
      '0123456789',
      undefined,
    ],
  ])('answers a request with %s from the cache', async (_name, headers, status, text, contentRange) => {
    const origin = bucket({ headers: { etag: '"v1"', 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' } });
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    const reply = await ask(rig, '/o', { headers });
    expect(reply).toMatchObject({ status, text });
    expect(reply.headers['content-range']).toBe(contentRange);
    expect(origin.asked).toHaveLength(1);
  });

  test('a HEAD request for a cached object is answered without a request to the origin', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o');
    const reply = await ask(rig, '/o', { method: 'HEAD' });
    expect(reply).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '10', 'x-cache': 'Hit from cloudfront' },
    });
    expect(origin.asked).toEqual(['GET']);
  });
});

describe('the cache', () => {
  test('keeps no parts: a range of an uncached object goes to the origin each time', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    for (const _time of [1, 2]) {
      expect(await ask(rig, '/o', { headers: { range: 'bytes=2-4' } })).toMatchObject({ status: 206, text: '234' });
    }
    expect(origin.asked).toEqual(['GET bytes=2-4', 'GET bytes=2-4']);
  });

  test.each([
    [LARGEST_ENTRY_BYTES, 1],
    [LARGEST_ENTRY_BYTES + 1, 2],
  ])('keeps only small objects: of two requests for an object of %i bytes, the origin gets %i', async (size, times) => {
    const origin = bucket({ body: Buffer.alloc(size, 'x') });
    const rig = await cachedRig(origin);
    expect((await ask(rig, '/o')).body).toHaveLength(size);
    expect((await ask(rig, '/o')).body).toHaveLength(size);
    expect(origin.asked).toHaveLength(times);
  });

  test('keeps only answers to GET, none to HEAD or POST', async () => {
    const origin = bucket();
    const rig = await startRig(origin.listener, {
      config: {
        DefaultCacheBehavior: {
          ...CACHE_BEHAVIOR,
          AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
        },
      },
    });
    for (const method of ['POST', 'POST', 'HEAD', 'HEAD']) await ask(rig, '/o', { method });
    expect(origin.asked).toEqual(['POST', 'POST', 'HEAD', 'HEAD']);
  });

  test('keeps nothing where caching is disabled', async () => {
    const origin = bucket({ headers: { 'cache-control': 'max-age=60', etag: '"v1"' } });
    const rig = await startRig(origin.listener);
    for (const _time of [1, 2]) expect((await ask(rig, '/o')).headers['x-cache']).toBe('Miss from cloudfront');
    expect(origin.asked).toHaveLength(2);
  });

  test('keeps no 304 of the origin for an object that is not cached', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    expect((await ask(rig, '/o', { headers: { 'if-none-match': '"v1"' } })).status).toBe(304);
    expect(await ask(rig, '/o')).toMatchObject({ status: 200, text: '0123456789' });
  });
});

describe('the cache key', () => {
  test('is only the path', async () => {
    const origin = bucket();
    const rig = await cachedRig(origin);
    await ask(rig, '/o?a=1', { headers: { cookie: 'a=1', 'x-h': '1' } });
    await ask(rig, '/o?a=2', { headers: { cookie: 'a=2', 'x-h': '2' } });
    expect(origin.asked).toHaveLength(1);
    await ask(rig, '/p');
    expect(origin.asked).toHaveLength(2);
  });

  test('has the encodings that the policy names', async () => {
    const origin = bucket();
    const base = MINUTE_CACHE_POLICY.CachePolicyConfig.ParametersInCacheKeyAndForwardedToOrigin;
    const parameters = { ...base, EnableAcceptEncodingGzip: true };
    const rig = await cachedRig(origin, { ParametersInCacheKeyAndForwardedToOrigin: parameters });
    await ask(rig, '/o');
    for (let time = 0; time < 2; time++) await ask(rig, '/o', { headers: { 'accept-encoding': 'gzip' } });
    expect(origin.asked).toHaveLength(2);
  });
});

describe('the cache keeps errors of GET requests as CloudFront does:', () => {
  const api = (status: number, headers: Record<string, string>, config: object = {}) => {
    const origin = bucket({ status, headers });
    return startRig(origin.listener, { config: { DefaultCacheBehavior: PASS_BEHAVIOR, ...config } }).then((rig) => ({
      rig,
      origin,
    }));
  };
  const noStore = { 'cache-control': 'no-store' };

  test.each([
    ['503, though caching is disabled and no-store sent', 503, noStore, {}, 10],
    ['404', 404, {}, {}, 10],
    ['404 with no-store', 404, noStore, {}, 0],
    ['404 with a longer max-age', 404, { 'cache-control': 'max-age=30' }, {}, 30],
    ['403', 403, {}, {}, 0],
    ['403 with max-age', 403, { 'cache-control': 'max-age=1' }, {}, 10],
    ['401', 401, { 'cache-control': 'max-age=30' }, {}, 0],
    ['429', 429, {}, {}, 0],
    [
      '416 for no time, even where ErrorCachingMinTTL is 4',
      416,
      {},
      { CustomErrorResponses: [{ ErrorCode: 416, ErrorCachingMinTTL: 4 }] },
      0,
    ],
    [
      '503 for no time where ErrorCachingMinTTL is 0',
      503,
      noStore,
      { CustomErrorResponses: [{ ErrorCode: 503, ErrorCachingMinTTL: 0 }] },
      0,
    ],
    [
      '503 where ErrorCachingMinTTL is 4',
      503,
      {},
      { CustomErrorResponses: [{ ErrorCode: 503, ErrorCachingMinTTL: 4 }] },
      4,
    ],
  ])('%s', async (_name, status, headers, config, seconds) => {
    const { rig, origin } = await api(status, headers, config);
    await ask(rig, '/e');
    if (seconds > 0) {
      rig.advance(seconds - 1);
      expect(await ask(rig, '/e')).toMatchObject({ status, headers: { 'x-cache': 'Error from cloudfront' } });
      expect(origin.asked).toHaveLength(1);
    }
    rig.advance(1);
    await ask(rig, '/e');
    expect(origin.asked).toHaveLength(2);
  });

  test('errors of other methods are never cached', async () => {
    const { rig, origin } = await api(503, {});
    for (const _time of [1, 2]) await ask(rig, '/e', { method: 'POST' });
    expect(origin.asked).toHaveLength(2);
  });
});

test('the cache is bounded: it evicts the least recently used entry first', () => {
  const cache = memoryCache(25);
  const entry = {
    status: 200,
    headers: new Map(),
    body: Buffer.alloc(10),
    storedAtMs: 0,
    freshUntilMs: 0,
  };
  cache.set('a', entry);
  cache.set('b', entry);
  cache.get('a');
  cache.set('c', entry);
  expect(['a', 'b', 'c'].filter((key) => cache.get(key))).toEqual(['a', 'c']);
  cache.set('c', { ...entry, body: Buffer.alloc(15) });
  expect(['a', 'c'].filter((key) => cache.get(key))).toEqual(['a', 'c']);
});
