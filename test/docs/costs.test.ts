import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costOf, costOfRequests, totalOf } from '../../docs/costs/costs.ts';
import { METERED_REQUESTS, type MeteredRequest } from '../../docs/costs/use.ts';
import { startTestService } from '../support/service.ts';
import { countStock } from './metered-stock.ts';
import { meterUse } from './metered-use.ts';

const RECORD = join(import.meta.dirname, '../../docs/costs/metered.json');

/** Where it fails because the service has changed: `npx vitest run test/docs/costs.test.ts --update`. */
test('the record of what requests use is of this service', async () => {
  const service = await startTestService();
  const metered = { requests: await meterUse(service), stock: await countStock() };
  await service.close();
  await expect(`${JSON.stringify(metered, null, 2)}\n`).toMatchFileSnapshot(RECORD);
});

test('a price is asked for as many units as it names', () => {
  expect(costOf('objectRead', 1_000_000)).toBeCloseTo(0.4);
  expect(costOf('gatewayRequest', 2_000_000)).toBeCloseTo(7);
  expect(costOf('secret', 3)).toBeCloseTo(1.2);
});

test('the gateway is paid for what goes through it: not streaming uploads, nor downloads', () => {
  const throughGateway = Object.keys(METERED_REQUESTS).filter(
    (name) => costOfRequests(name as MeteredRequest, 1).gateway > 0,
  );
  expect(throughGateway).toEqual(['inline', 'direct', 'list', 'search']);
});

test('what a function without a known price takes part in has no price of Lambda, and a sum without it', () => {
  const cost = costOfRequests('streaming', 1);
  expect(cost.lambda).toBeUndefined();
  expect(totalOf(cost)).toBeCloseTo(cost.dynamoDb + cost.s3 + cost.cloudFront + cost.logs);
});
