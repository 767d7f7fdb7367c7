import { setTimeout as sleep } from 'node:timers/promises';
import type { Check } from './check.ts';
import { textContent } from './content.ts';
import { exchange } from './http.ts';
import { expectEqual, expectError, expectHeader, expectStatus } from './service.ts';

/** The service promises one minute. The other 15 seconds are for the requests of this check. */
const GONE_WITHIN_MS = 75_000;
const ASK_EVERY_MS = 2_500;

/** Checks of the links of stored files, through the CDN. */
export const LINK_CHECKS: readonly Check[] = [
  {
    name: 'link: type, length, name, nosniff, and a policy under which nothing executes',
    async run({ service }) {
      const file = await service.upload('smoke.html', textContent('<script>alert(1)</script>'), 'length', 'text/html');
      const answer = expectStatus(await exchange(file.url), 200);
      expectHeader(answer, 'content-type', /^text\/html\b/);
      expectHeader(answer, 'content-length', /^25$/);
      expectHeader(answer, 'content-disposition', /^attachment; filename="smoke.html"/);
      expectHeader(answer, 'x-content-type-options', /^nosniff$/);
      expectHeader(answer, 'content-security-policy', /^sandbox; default-src 'none'$/);
      expectHeader(answer, 'cross-origin-resource-policy', /^cross-origin$/);
      expectHeader(answer, 'strict-transport-security', /max-age=\d{8}/);
      const ofS3 = Object.keys(answer.headers).filter((name) => name.startsWith('x-amz-meta'));
      expectEqual('the list of metadata headers', ofS3.join(), '');
      expectStatus(await service.remove(file.id), 200);
      return undefined;
    },
  },
  {
    name: 'link: ranges, including one from the end, HEAD, and 304 for a matching ETag',
    async run({ service }) {
      const file = await service.upload('smoke.txt', textContent('0123456789'), 'length', 'text/plain');
      const range = (value: string) => exchange(file.url, { headers: { range: value } });
      expectEqual('bytes 2 to 4', expectStatus(await range('bytes=2-4'), 206).text, '234');
      expectEqual('the last 3', expectStatus(await range('bytes=-3'), 206).text, '789');
      expectHeader(expectStatus(await range('bytes=10-'), 416), 'content-range', /^bytes \*\/10$/);
      const head = expectStatus(await exchange(file.url, { method: 'HEAD' }), 200);
      expectHeader(head, 'content-length', /^10$/);
      const etag = head.headers.etag ?? '';
      expectStatus(await exchange(file.url, { headers: { 'if-none-match': etag } }), 304);
      expectStatus(await service.remove(file.id), 200);
      return undefined;
    },
  },
  {
    name: 'link: an unknown link is 404, and another method is 405',
    async run({ service }) {
      const file = await service.upload('smoke.txt', textContent('x'));
      const unknown = file.url.replace(/uploads\/[^/]+/, `uploads/${'A'.repeat(22)}`);
      expectError(await exchange(unknown), 404, 'not_found');
      expectError(await exchange(file.url, { method: 'DELETE' }), 405, 'method_not_allowed');
      expectStatus(await service.remove(file.id), 200);
      return undefined;
    },
  },
  {
    name: 'link: 404 within 75 s of the deletion, wherever it was cached',
    async run({ service }) {
      const file = await service.upload('smoke.txt', textContent('soon gone'), 'length', 'text/plain');
      expectStatus(await exchange(file.url), 200);
      expectStatus(await service.remove(file.id), 200);
      const deletedAt = performance.now();
      for (;;) {
        const { status } = await exchange(file.url);
        const seconds = (performance.now() - deletedAt) / 1_000;
        if (status === 404) return `404 after ${seconds.toFixed(0)} s`;
        if (seconds * 1_000 > GONE_WITHIN_MS) throw new Error(`still ${status} after ${seconds.toFixed(0)} s`);
        await sleep(ASK_EVERY_MS);
      }
    },
  },
];
