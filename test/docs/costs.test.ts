import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costsOfIdleMonth, costsOfWorstDays } from '../../docs/costs/cost-tables.ts';
import { costOf, costOfRequests, METERED, totalOf } from '../../docs/costs/costs.ts';
import { PRICES } from '../../docs/costs/prices.ts';
import { METERED_REQUESTS, type MeteredRequest } from '../../docs/costs/use.ts';
import { fullFirst, rates } from '../../docs/scale/scale-tables.ts';
import { ROUTES } from '../../functions/routes.ts';
import { throttleOf } from '../../infra/constructs/gateway-stage.ts';
import { ALARMS } from '../../infra/operations/alarm-list.ts';
import { TRAFFIC_PRICES } from '../../infra/operations/edge-alarms-stack.ts';
import { SHARDS } from '../../shared/contract/limits.ts';
import { startTestService } from '../support/service.ts';
import { LOW_LIMIT, meterUse } from './metered-use.ts';
import { countMonthlyResources } from './monthly-resources.ts';

const RECORD = join(import.meta.dirname, '../../docs/costs/metered.json');

/** If this test fails because the service has changed, run `npm run generate`. */
test('docs/costs/metered.json is what requests to the service use', async () => {
  const service = await startTestService({ RATE_LIMIT_REQUESTS_PER_MINUTE: String(LOW_LIMIT) });
  const metered = { requests: await meterUse(service), monthlyResources: await countMonthlyResources() };
  await service.close();
  await expect(`${JSON.stringify(metered, null, 2)}\n`).toMatchFileSnapshot(RECORD);
});

test('an idle month costs less than 20 dollars, with the firewall', () => {
  const [, sum = ''] = costsOfIdleMonth().rows.at(-1) ?? [];
  expect(Number(/\$([\d.]+)/.exec(sum)?.[1])).toBeLessThan(20);
});

test('as many sweepers as there can be keep up with every rate of the page on scale, and nothing that cannot be raised is full', () => {
  const sweepers = rates().rows.map(([, , number]) => Number(number));
  expect(sweepers.every((number) => number >= 1 && number <= SHARDS)).toBe(true);
  const fixed = fullFirst().rows.flatMap(([resource = '', , , , knob]) => (knob?.startsWith('none') ? [resource] : []));
  expect(fixed).toHaveLength(2);
  const full = rates().rows.map(([, resources = '']) => resources);
  for (const resource of fixed) expect(full.join()).not.toContain(resource.replace(/[,(].*/, '').trim());
});

test('the worst days are computed from the default limits and the firewall of the stage prod', () => {
  const counts = costsOfWorstDays().rows.map(([what, count]) => [what, count]);
  expect(counts).toEqual(
    expect.arrayContaining([
      ['One account: direct uploads', '86,400'],
      ['One account: deleted bytes, stored for 7 days', '376 GB'],
      ['One account: refused by the limiter', (288 * 5_000 - 1_440 * 420).toLocaleString('en-US')],
      ['One stranger: requests with an unknown key', '1,440,000'],
      ['Strangers at many addresses: logins, as many as the gateway admits', (4 * 50 * 86_400).toLocaleString('en-US')],
    ]),
  );
});

test('the guide and the alarm say how many requests of strangers stop a route', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/operate.md'), 'utf8');
  const { startLogin, finishLogin, getFile, deleteFile, listFiles, uploadFile, createUpload } = ROUTES;
  const said = (pattern: RegExp) => Number(pattern.exec(guide)?.[1]);
  for (const [pattern, ...routes] of [
    [/^\| (\d+) starts of logins, or \1 callbacks \|/m, startLogin, finishLogin],
    [/^\| (\d+) to one of the other routes, such as details or deletions/m, getFile, deleteFile],
    [/^\| (\d+) lists, \1 forms up to 4 MiB, or \1 tickets \|/m, listFiles, uploadFile, createUpload],
  ] as const) {
    for (const route of routes) expect(said(pattern)).toBe(throttleOf(route).throttlingRateLimit);
  }
  expect(ALARMS.LoginThrottles.meaning).toContain(`${throttleOf(startLogin).throttlingRateLimit} logins a second`);
});

test('the dearest searches of an account read no more than its partition gives', () => {
  const searches = costsOfWorstDays().rows.find(([what]) => what?.startsWith('One account: searches'));
  const units = METERED.requests.worstSearch.readUnits * Number(searches?.[1]?.replaceAll(',', ''));
  expect(units / (24 * 3_600)).toBeGreaterThan(2_990);
  expect(units / (24 * 3_600)).toBeLessThanOrEqual(3_000);
});

test('the alarm on the costs of traffic uses the prices of the cost page', () => {
  const millionOf = (price: 'edgeRequest' | 'edgeFunction' | 'firewallRequest') => costOf(price, 1_000_000);
  expect(TRAFFIC_PRICES.gigabyte).toBe(PRICES.edgeToViewer.usd);
  // A download runs two functions at the edge; a request to the app runs only one.
  const millionRequests = millionOf('edgeRequest') + 2 * millionOf('edgeFunction') + millionOf('firewallRequest');
  expect(TRAFFIC_PRICES.millionRequests).toBeCloseTo(millionRequests);
});

test('a cost is computed per unit of its price', () => {
  expect(costOf('objectRead', 1_000_000)).toBeCloseTo(0.4);
  expect(costOf('gatewayRequest', 2_000_000)).toBeCloseTo(7);
  expect(costOf('secret', 3)).toBeCloseTo(1.2);
});

test('the bytes of an answer are part of the cost of a request', () => {
  const [page, large] = (['keys', 'worstSearch'] as const).map((name) => ({
    bytes: METERED.requests[name].answerBytes,
    usd: costOfRequests(name, 1).cloudFront,
  }));
  const more = (large?.bytes ?? 0) - (page?.bytes ?? 0);
  expect(more).toBeGreaterThan(10_000);
  expect((large?.usd ?? 0) - (page?.usd ?? 0)).toBeCloseTo(costOf('edgeToViewer', more / 1e9), 9);
});

test('the gateway costs something only for requests through it, not for streaming uploads and downloads', () => {
  const throughGateway = Object.keys(METERED_REQUESTS).filter(
    (name) => costOfRequests(name as MeteredRequest, 1).gateway > 0,
  );
  expect(throughGateway).toEqual([
    'inline',
    'direct',
    'list',
    'search',
    'worstSearch',
    'keys',
    'remove',
    'stranger',
    'limited',
    'canary',
  ]);
});

test('a request to a function without a known price has no cost of Lambda, and a total without it', () => {
  const cost = costOfRequests('streaming', 1);
  expect(cost.lambda).toBeUndefined();
  expect(totalOf(cost)).toBeCloseTo(cost.dynamoDb + cost.s3 + cost.cloudFront + cost.firewall + cost.logs);
});
