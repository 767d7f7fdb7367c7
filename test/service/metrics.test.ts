import { afterAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../local-aws/service.ts';
import { METRIC_NAMESPACE, METRICS } from '../../shared/metrics.ts';
import { askForTicket, complete, put, retryWhileBusy, uploadStreaming } from '../support/lanes.ts';
import { operatorOf } from '../support/operator.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestAccount } from '../support/service.ts';
import { withFault } from '../support/with-fault.ts';
import { rulesBroken } from './embedded-metrics.ts';

const service = await startTestService({ RATE_LIMIT_LISTS_PER_MINUTE: '1' });
afterAll(() => service.close());

type Counted = Record<string, unknown>;

/** The metrics in the log lines since `start`, without CloudWatch's metadata. */
function counted(start = 0): Counted[] {
  return recordsSince(start).map(({ level: _, message: __, _aws: ___, ...rest }) => rest);
}

function recordsSince(start: number): Counted[] {
  return service.logs.slice(start).flatMap((line) => {
    const json = line.slice(line.indexOf(' ') + 1);
    return json.startsWith('{') && json.includes('"_aws"') ? [JSON.parse(json) as Counted] : [];
  });
}

/** Expects that `act` writes these metrics, and waits for them, because a function's log lines can arrive after its answer. */
async function expectCounted(act: () => Promise<unknown>, ...expected: Counted[]): Promise<void> {
  const start = service.logs.length;
  await act();
  await expect.poll(() => counted(start)).toEqual(expected.map((record) => ({ Stage: 'local', ...record })));
}

async function uploadDirectly({ byKey }: TestAccount, text: string): Promise<void> {
  const { body: ticket } = await askForTicket(byKey, 'a.txt', text.length);
  expect(await put(ticket, text)).toBe(200);
  // The event of the bucket may be at work on it.
  expect((await retryWhileBusy(() => complete(byKey, ticket))).status).toBe(201);
  expect((await complete(byKey, ticket)).status).toBe(201);
  await service.invoker.idle();
}

describe('a file is counted once, with its bytes and its lane:', () => {
  test.for<[string, (account: TestAccount) => Promise<unknown>]>([
    ['inline', ({ byKey }) => byKey.upload('a.txt', 'hello')],
    ['streaming', (account) => uploadStreaming(account, 'a.txt', 'hello')],
    ['direct', (account) => uploadDirectly(account, 'hello')],
  ])('%s', async ([Lane, upload]) => {
    const account = await service.newAccount();
    await expectCounted(() => upload(account), { Lane, Uploads: 1, UploadedBytes: 5 });
  });

  test('direct, even when only the event of the bucket settles it', async () => {
    const { byKey } = await service.newAccount();
    const arrive = async () => {
      const { body: ticket } = await askForTicket(byKey, 'a.txt', 5);
      await put(ticket, 'hello');
      await service.invoker.idle();
    };
    await expectCounted(arrive, { Lane: 'direct', Uploads: 1, UploadedBytes: 5 });
  });
});

test('a retry with the same Idempotency-Key counts no file', async () => {
  const { byKey } = await service.newAccount();
  const upload = () => byKey.upload('a.txt', 'hello', { headers: { 'idempotency-key': 'once' } });
  await expectCounted(upload, { Lane: 'inline', Uploads: 1, UploadedBytes: 5 });
  // The lines of the next upload come after those of the retry, from the same process.
  const retryAndUploadNext = async () => {
    expect((await upload()).headers.get('idempotency-replayed')).toBe('true');
    await byKey.upload('next.txt', 'next one');
  };
  await expectCounted(retryAndUploadNext, { Lane: 'inline', Uploads: 1, UploadedBytes: 8 });
});

test('an error is counted by its code, and a 429 also by its rate class', async () => {
  const { byKey } = await service.newAccount();
  await expectCounted(() => byKey.request('GET', '/files/unknown'), { Code: 'not_found', Rejections: 1 });
  await byKey.request('GET', '/files');
  await expectCounted(
    () => byKey.request('GET', '/files'),
    { Code: 'rate_limit_exceeded', Rejections: 1 },
    { RateClass: 'lists', RateLimited: 1 },
  );
});

test('a failure of the streaming lane has a metric of its own, because no gateway counts it', async () => {
  const account = await service.newAccount();
  const fault: Fault = { match: { service: 's3' }, effect: 'error-before' };
  await expectCounted(
    () => withFault(service, fault, () => uploadStreaming(account, 'a.txt', 'hello')),
    { Code: 'service_unavailable', Rejections: 1 },
    { StreamingFailures: 1 },
  );
});

test('a failed login in a browser has a metric of its own, because the gateway sees only a redirect', async () => {
  const fault: Fault = { match: { service: 'dynamodb' }, effect: 'error-before' };
  const request = rawRequest('GET /api/v1/auth/google', ['Sec-Fetch-Mode: navigate']);
  await expectCounted(
    () => withFault(service, fault, () => sendRaw(service.urls.root_url, request)),
    { LoginFailures: 1 },
    { Code: 'service_unavailable', Rejections: 1 },
  );
});

test('a sweep reports its lag, and its work if there was any, because a metric that is written costs money', async () => {
  const { byKey } = await service.newAccount();
  await askForTicket(byKey, 'a.txt', 5);
  const operator = operatorOf(service);
  await operator.expireDeadlines();
  const start = service.logs.length;
  await operator.sweep();
  await expect
    .poll(() => counted(start))
    .toEqual([{ Stage: 'local', Swept: expect.any(Number), SweepLag: expect.any(Number) }]);
  await expectCounted(() => operator.sweep(), { SweepLag: expect.any(Number) });
  operator.close();
  expect(counted(start)[0]?.Swept).toBeGreaterThan(0);
  expect(counted(start)[0]?.SweepLag).toBeGreaterThan(0);
});

test('every metric follows the rules of the embedded metric format, and contains nothing about an account', () => {
  const records = recordsSince(0);
  expect(records.length).toBeGreaterThan(8);
  expect(records.flatMap(rulesBroken)).toEqual([]);
  const named = new Set(records.flatMap((record) => Object.keys(record)));
  const known = ['level', 'message', '_aws', 'Stage', 'Lane', 'Code', 'RateClass', ...Object.keys(METRICS)];
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
  expect(JSON.stringify(records)).toContain(`"Namespace":"${METRIC_NAMESPACE}"`);
});
