import { readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { LANES } from '../../shared/metrics.ts';
import { uploadThrough } from '../support/lanes.ts';
import { startTestService } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';

/** The time on the service's clock, by which the CDN's cache expires. */
let now = new Date();

const service = await startTestService({ RATE_LIMIT_UPLOADS_PER_MINUTE: '1000' }, { clock: () => now });
const account = await service.newAccount();
afterAll(() => service.close());

async function link(name: string, content: string, type: string): Promise<string> {
  const { body } = await account.byKey.upload(name, content, { type });
  return String(body.url);
}

/** The policy for all other types, such as HTML: a browser executes nothing of such a file. */
const INERT = "sandbox; default-src 'none'";
/** The policy for images, audio and video: they load from their own URL, and the browser's built-in viewer may use its inline styles. */
const MEDIA =
  "sandbox allow-same-origin; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/** The policy for a PDF, without `sandbox`, because Safari shows no PDF in a sandbox. */
const PDF = "default-src 'none'; style-src 'unsafe-inline'";

describe('contract: download', () => {
  test('a download has the type and length of the file, and supports ranges', async () => {
    const url = await link('a.txt', '0123456789', 'text/plain; charset=utf-8');
    const whole = await fetch(url, { headers: { 'accept-encoding': 'gzip, br' } });
    expect(await whole.text()).toBe('0123456789');
    expect(whole.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(whole.headers.get('content-length')).toBe('10');
    expect(whole.headers.get('content-encoding')).toBeNull();
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
    const part = await fetch(url, { headers: { range: 'bytes=2-4' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const tail = await fetch(url, { headers: { range: 'bytes=-3' } });
    expect([tail.status, await tail.text()]).toEqual([206, '789']);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
  });

  test.for([
    ['GET', 'S3'],
    ['HEAD', 'S3'],
    ['GET', 'the cache'],
    ['HEAD', 'the cache'],
  ] as const)(
    'a %s of a range past the end, answered by %s, is 416 with the length of the file',
    async ([method, by]) => {
      const url = await link('a.txt', '0123456789', 'text/plain');
      const whole = by === 'the cache' ? await fetch(url) : undefined;
      expect(await whole?.text()).toBe(whole && '0123456789');
      const past = await fetch(url, { method, headers: { range: 'bytes=10-' } });
      expect(past.status).toBe(416);
      expect(past.headers.get('content-range')).toBe('bytes */10');
      // The error must not have the headers that describe the file or its caching.
      for (const name of ['etag', 'last-modified', 'content-disposition', 'cache-control']) {
        expect([name, past.headers.get(name)]).toEqual([name, null]);
      }
      expect(past.headers.get('x-content-type-options')).toBe('nosniff');
      const body = await past.text();
      if (method === 'HEAD' || by === 'the cache') expect(body).toBe('');
      else expect(body).toMatch(/<Code>InvalidRange<.*<ActualObjectSize>10</s);
      // The error must not reveal the bucket.
      expect(body).not.toMatch(/bucket|uploads/i);
    },
  );

  test('a true precondition changes nothing, and a false one is 412 with our JSON error', async () => {
    const url = await link('a.txt', '0123456789', 'text/plain');
    const { headers } = await fetch(url);
    const etag = headers.get('etag') ?? '';
    const modified = new Date(headers.get('last-modified') ?? '');
    const before = new Date(modified.getTime() - 1_000).toUTCString();
    for (const condition of [{ 'if-match': etag }, { 'if-unmodified-since': modified.toUTCString() }]) {
      const part = await fetch(url, { headers: { ...condition, range: 'bytes=2-4' } });
      expect([part.status, await part.text()]).toEqual([206, '234']);
    }
    for (const condition of [
      ['if-match', '"other"'],
      ['if-unmodified-since', before],
    ] as const) {
      // The CDN's cache has the first file. The second file has to come from S3.
      for (const address of [url, await link('b.txt', '0123456789', 'text/plain')]) {
        const refused = await fetch(address, { headers: [[...condition]] });
        expect([refused.status, await refused.text()]).toEqual([412, '{"error":"invalid_request"}']);
        expect(refused.headers.get('content-type')).toBe('application/json');
        expect(refused.headers.get('cache-control')).toBe('no-store');
        expect(refused.headers.get('x-request-id')).toMatch(/\S/);
      }
    }
    const unknown = url.replace(/uploads\/[^/]+/, `uploads/${'A'.repeat(22)}`);
    expect((await fetch(unknown, { headers: { 'if-match': '"other"' } })).status).toBe(404);
  });

  test('a download is not compressed, so that its length and ranges are those of the file', async () => {
    const url = await link('long.txt', 'long '.repeat(1_000), 'text/plain');
    const { headers } = await fetch(url, { headers: { 'accept-encoding': 'gzip, br' } });
    expect([headers.get('content-length'), headers.get('content-encoding')]).toEqual(['5000', null]);
  });

  test.for([
    ['pic.png', 'image/png', 'inline', MEDIA],
    ['clip.mp4', 'video/mp4', 'inline', MEDIA],
    ['sound.mp3', 'audio/mpeg', 'inline', MEDIA],
    ['note.txt', 'text/plain', 'inline', INERT],
    ['page.pdf', 'application/pdf', 'inline', PDF],
    ['page.html', 'text/html', 'attachment', INERT],
    ['page.html', 'Text/HTML', 'attachment', INERT],
    ['drawing.svg', 'image/svg+xml', 'attachment', INERT],
    ['feed.xml', 'application/xml', 'attachment', INERT],
    ['script.js', 'text/javascript', 'inline', INERT],
    ['table.csv', 'text/csv', 'inline', INERT],
    ['main.go', 'application/octet-stream', 'inline', INERT],
    ['unknown', '', 'attachment', INERT],
  ] as const)('%s with the type "%s" is served as %s and cannot execute', async ([name, type, disposition, policy]) => {
    const { headers } = await fetch(await link(name, '<script>alert(1)</script>', type));
    expect(headers.get('content-disposition')).toMatch(new RegExp(`^${disposition}; filename=`));
    expect(headers.get('content-security-policy')).toBe(policy);
  });

  test.each(LANES)(
    'a file of the %s lane may be cached by browsers for an hour, and its link is dead within a minute even while S3 fails',
    async (lane) => {
      const { body } = await uploadThrough(lane, account, 'a.txt', 'soon gone');
      const { headers } = await fetch(String(body.url));
      expect(headers.get('cache-control')).toBe('public, max-age=3600, stale-if-error=0');
      await account.byKey.request('DELETE', `/files/${body.id}`);
      now = new Date(now.getTime() + 60_000);
      const fault = { match: { service: 's3', operation: 'GetObject' }, effect: 'error-before' } as const;
      const { status } = await withFault(service, fault, () => fetch(String(body.url)));
      expect(status).toBe(500);
    },
  );

  test('text without a declared charset is served as UTF-8', async () => {
    const { headers } = await fetch(await link('note.txt', 'naïve', 'text/plain'));
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('an error must not be cached by browsers', async () => {
    const { headers } = await fetch(`${service.urls.cdn_url}/uploads/${'A'.repeat(22)}/a`);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('the link of a deleted file is 404 within a minute, when the CDN revalidates its copy', async () => {
    const { body } = await account.byKey.upload('short-lived.txt', 'soon gone', { type: 'text/plain' });
    const get = () => fetch(String(body.url)).then((response) => response.status);
    expect(await get()).toBe(200);
    await account.byKey.request('DELETE', `/files/${body.id}`);
    now = new Date(now.getTime() + 56_000);
    expect(await get()).toBe(404);
  });

  test('Content-Disposition names the file in ASCII and in UTF-8', async () => {
    const { headers } = await fetch(await link('naïve "文件".txt', 'x', 'text/plain'));
    expect(headers.get('content-disposition')).toBe(
      `inline; filename="naive ____.txt"; filename*=UTF-8''na%C3%AFve%20%22%E6%96%87%E4%BB%B6%22.txt`,
    );
  });

  test('a link reveals neither the owner nor how the file is stored, whatever the answer', async () => {
    const url = await link('a', 'a', '');
    for (const [status, headers, address] of [
      [200, {}, url],
      [206, { range: 'bytes=0-0' }, url],
      [304, { 'if-none-match': '*' }, url],
      [412, { 'if-match': '"other"' }, url],
      // S3 answers these two itself: the first as it is, the second by an error page.
      [416, { range: 'bytes=10-' }, await link('b', 'b', '')],
      [404, {}, url.replace(/uploads\/[^/]+/, `uploads/${'A'.repeat(22)}`)],
    ] as const) {
      const answer = await fetch(address, { headers });
      const names = [...answer.headers.keys()].filter((name) => /^(x-amz-|server$)/.test(name));
      expect([answer.status, names]).toEqual([status, ['x-amz-cf-id']]);
      expect(JSON.stringify([...answer.headers])).not.toContain(account.id);
    }
  });

  test('an unknown link, or a path that is not a link, is 404 with our JSON error', async () => {
    const url = await link('a', 'a', '');
    const wrong = [
      url.replace(/uploads\/[^/]+/, `uploads/${'A'.repeat(22)}`),
      `${service.urls.cdn_url}/`,
      `${service.urls.cdn_url}/uploads/`,
      `${service.urls.cdn_url}/incoming/x`,
      `${service.urls.cdn_url}/uploads/../incoming/x`,
    ];
    for (const address of wrong) {
      const response = await fetch(address);
      expect([address, response.status, await response.text()]).toEqual([address, 404, '{"error":"not_found"}']);
    }
  });

  test('a deleted file that the CDN has not cached is 404 at once', async () => {
    const { body } = await account.byKey.upload('a', 'a');
    await account.byKey.request('DELETE', `/files/${body.id}`);
    expect((await fetch(String(body.url))).status).toBe(404);
  });

  test('pages of every origin may read a link, its errors too, and the cache has one entry for all', async () => {
    const url = await link('a b.txt', '0123456789', 'text/plain');
    const etag = String((await fetch(url)).headers.get('etag'));
    for (const [status, headers, address] of [
      [200, {}, url],
      [206, { range: 'bytes=2-4' }, url],
      [304, { 'if-none-match': etag }, url],
      [412, { 'if-match': '"other"' }, url],
      [416, { range: 'bytes=10-' }, url],
      [404, {}, `${url}/more`],
      [404, {}, url.replace(/uploads\/[^/]*/, `uploads/${'a'.repeat(22)}`)],
    ] as const) {
      for (const origin of ['https://one.example', 'https://two.example']) {
        const answer = await fetch(address, { headers: { ...headers, origin } });
        expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, '*']);
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
        await answer.arrayBuffer();
        if (status < 300) expect(answer.headers.get('x-cache')).toBe('Hit from cloudfront');
        if (status === 206 || status === 416) {
          expect(answer.headers.get('access-control-expose-headers')).toContain('Content-Range');
        }
      }
    }
  });

  test.each(['GET', 'HEAD'])('a preflight of %s of a link is answered', async (method) => {
    const url = await link('a', 'a', '');
    const asked = { origin: 'https://one.example', 'access-control-request-method': method };
    const answer = await fetch(url, { method: 'OPTIONS', headers: asked });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': '*',
    });
  });

  test.each(['download', 'download=', 'download=1', 'a=b&download'])(
    '?%s saves the file under its name',
    async (query) => {
      const url = await link('ü.png', 'x', 'image/png');
      expect((await fetch(url)).headers.get('content-disposition')).toMatch(/^inline; filename.*%C3%BC\.png/);
      const saved = await fetch(`${url}?${query}`);
      expect([saved.status, await saved.text(), saved.headers.get('x-cache')]).toEqual([
        200,
        'x',
        'Hit from cloudfront',
      ]);
      expect(saved.headers.get('content-disposition')).toMatch(/^attachment; filename.*%C3%BC\.png/);
      expect((await fetch(`${url}?other`)).headers.get('content-disposition')).toMatch(/^inline/);
    },
  );

  test.each([100_000, 2_000_000])('a link is 503 when its file of %i bytes was cut on the disk', async (size) => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => said.mockRestore());
    const url = await link('cut.bin', 'x'.repeat(size), 'a/b');
    // The file has the content, and a record of some hundred bytes.
    const isIt = (path: string) => Math.floor(statSync(path).size / 10_000) === size / 10_000;
    const stored = join(service.dataDir, 's3');
    const files = readdirSync(stored, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const found = files.map(({ parentPath, name }) => join(parentPath, name)).filter(isIt);
    expect(found).toHaveLength(1);
    truncateSync(String(found[0]), size / 2);
    for (const method of ['GET', 'HEAD']) expect((await fetch(url, { method })).status).toBe(503);
  });

  test('a link accepts only GET, HEAD and OPTIONS', async () => {
    const url = await link('a', 'a', '');
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await fetch(url, { method, headers: { origin: 'https://one.example' } });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect([response.status, await response.text()]).toEqual([405, '{"error":"method_not_allowed"}']);
    }
  });
});
