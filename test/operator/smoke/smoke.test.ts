import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { inherited } from '../../support/inherited.ts';
import { operatorOf } from '../../support/operator.ts';
import { startTestService, type TestAccount, type TestService } from '../../support/service.ts';
import { removeResource } from '../../support/template-edits.ts';

/**
 * Runs `npm run smoke` as a process, and checks its output, its exit code, and that it deletes its files. The first test waits
 * for the CDN, so the others run meanwhile.
 */

const RUN = join(import.meta.dirname, '../../../operator/smoke/run.ts');

/**
 * From the first request for a link, the CDN's clock runs 16 times as fast, so that a deleted link is dead in seconds. S3 tolerates no more
 * than 15 minutes of difference, which must not be used up while the service starts.
 */
let firstLinkAt = Number.POSITIVE_INFINITY;
const onRequest = ({ path }: { readonly path: string }) => {
  if (path.startsWith('/uploads/')) firstLinkAt = Math.min(firstLinkAt, Date.now());
};
const fastClock = () => new Date(Date.now() + Math.min(15 * Math.max(0, Date.now() - firstLinkAt), 14 * 60_000));
/** High limits. The check of the rate limiter does not try a limit of 5,000, because it would send too many requests. */
const LIMITS = { RATE_LIMIT_LISTS_PER_MINUTE: '5000', RATE_LIMIT_UPLOADS_PER_MINUTE: '5000' };

const service = await startTestService(LIMITS, { clock: fastClock, onRequest });
const account = await service.newAccount();
afterAll(() => service.close());

async function smoke(...options: string[]) {
  const child = spawn(process.execPath, [RUN, ...options], { env: { ...inherited(), STAGE: 'local' } });
  const [lines, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, lines: lines.trim().split('\n'), stderr };
}

const optionsFor = ({ urls }: TestService, { key }: TestAccount) => ['--base-url', urls.base_url, '--key', key];

// The checks follow one another, each of several requests.
test.concurrent('a working service passes all checks, and no uploaded file is left', {
  timeout: 30 * 60_000,
}, async () => {
  const options = ['--largest-mib', '5', '--gateway-url', service.gatewayUrl];
  const { code, lines, stderr } = await smoke(...optionsFor(service, account), ...options);
  expect(lines.filter((line) => line.startsWith('DOES NOT HOLD'))).toEqual([]);
  expect([code, stderr]).toEqual([0, '']);
  expect(lines.at(-1)).toMatch(/^Checks that hold: (\d+) of \1\. Not tried: 19\.$/);
  expect(lines.join('\n')).toMatch(/^holds {10}form of 5 MiB, without a length: [\d.]+ s, /m);
  expect(lines.join('\n')).toMatch(/^not tried {6}direct upload of 7 MiB: the file is larger than --largest-mib$/m);
  expect(lines.join('\n')).toMatch(/^holds {10}link: 404 within 75 s of the deletion.*: 404 after \d+ s$/m);
  // A direct upload keeps its row and its key until its ticket ends.
  const operator = operatorOf(service);
  await operator.expireDeadlines();
  await operator.sweep();
  operator.close();
  expect(await service.rowsOf(account.id)).toEqual([]);
});

test.concurrent('a failed check is printed, and the exit code is 1', async () => {
  const edit = (templates: Parameters<typeof removeResource>[0]) =>
    removeResource(templates, 'AWS::ApiGateway::Method', 'Apiapiv1filesidDELETE');
  const broken = await startTestService(LIMITS, { edit, mayBreakApi: true });
  const { code, lines } = await smoke(...optionsFor(broken, await broken.newAccount()), '--only', 'delete');
  await broken.close();
  expect(code).toBe(1);
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^DOES NOT HOLD {2}files: upload, .*: answered 405 .*method_not_allowed.* instead of 200 \(request \S+\)$/,
    ),
  );
  expect(lines.join('\n')).toMatch(/^not deleted: smoke-\d+\.txt \(\S+\)$/m);
  expect(lines.join('\n')).toMatch(/^Checks that hold: 0 of 1\. Not tried: 0\.$/m);
});

test.concurrent('the gateway itself is checked only when its address is given', async () => {
  const only = ['--only', 'gateway:'];
  const given = await smoke(...optionsFor(service, account), '--gateway-url', service.gatewayUrl, ...only);
  expect(given.lines[0]).toMatch(/^holds {10}gateway: /);
  const without = await smoke(...optionsFor(service, account), ...only);
  expect(without.lines[0]).toMatch(/^not tried {6}gateway: .*: --gateway-url was not given$/);
  const open = await smoke(...optionsFor(service, account), '--gateway-url', service.urls.root_url, ...only);
  expect([open.code, open.lines[0]]).toEqual([
    1,
    expect.stringMatching(/^DOES NOT HOLD {2}gateway: .*: answered 200 /),
  ]);
});

test.concurrent('a header that CloudFront adds to an answer of the edge is printed', async () => {
  const twice = createServer((request, response) => {
    response.setHeader('x-request-id', 'a').setHeader('cache-control', 'no-store');
    response.setHeader('content-type', 'application/json').setHeader('x-content-type-options', ['nosniff', 'nosniff']);
    response.statusCode = 401;
    request.resume().on('end', () => response.end('{"error":"unauthorized"}'));
  });
  await once(twice.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(twice.address() as AddressInfo).port}/api/v1`;
  const { code, lines } = await smoke('--base-url', baseUrl, '--key', 'x', '--only', '25 MiB without a key');
  twice.close();
  const reason = 'the header x-content-type-options is nosniff, nosniff and does not match /^nosniff$/';
  expect([code, lines[0]]).toEqual([1, expect.stringContaining(reason)]);
});

test.concurrent('a check that needs a key fails with an invalid one', async () => {
  const { code, lines } = await smoke('--base-url', service.urls.base_url, '--key', 'wrong', '--only', 'delete');
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^DOES NOT HOLD .*: answered 401 {"error":"unauthorized"} instead of 201/);
});

test.concurrent.each<[string, string[], string]>([
  ['without options', [], '--key is required.'],
  [
    'with an address that is not one of the API',
    ['--base-url', 'http://127.0.0.1:1', '--key', 'x'],
    'http://127.0.0.1:1 does not end in /api/v1.',
  ],
  [
    'with a size that is not a number',
    ['--base-url', 'http://127.0.0.1:1/api/v1', '--key', 'x', '--largest-mib', 'all'],
    '--largest-mib must be a positive number, not "all".',
  ],
  ['with an unknown option', ['--base', 'x'], "Unknown option '--base'"],
])('a command line %s is rejected with exit code 2 and a sentence', async (_name, options, sentence) => {
  const { code, stderr } = await smoke(...options);
  expect(code).toBe(2);
  expect(stderr.startsWith(sentence)).toBe(true);
});
