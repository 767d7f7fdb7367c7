import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RatePolicy, rateKey, ratePolicy } from '../../../shared/rate-limit/policy.ts';
import { admit, type RateDecision } from '../../../shared/rate-limit/rate-limiter.ts';
import { startAws } from '../../support/aws.ts';
import { bePatient } from '../../support/patient-clients.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';

const { front, engine, tables, operations } = await startAws();
const { rateLimitStore: store } = await import('../../../shared/aws/rate-limit-store.ts');
bePatient((await import('../../../shared/aws/dynamodb.ts')).dynamoDbOnce);

const MINUTE_MS = 60_000;
/** How much two clocks may differ without harm; a slot stays in use longer by this time. */
const TOLERANCE_MS = 20;
const START = Date.UTC(2026, 10, 21, 12, 0, 0, 3);

/** How many of the runs are tried: all by `npm run test:soak`, a third by `npm test`. */
const runs = (all: number) => (IS_THOROUGH ? all : Math.ceil(all / 3));
/** This many requests are sent at once. Each request that is refused has tried every slot. */
const CROWD = IS_THOROUGH ? 200 : 80;

/** Sends requests of one new subject. */
function subject(policy: RatePolicy): (now: number) => Promise<RateDecision> {
  const key = rateKey('uploads', policy.limit, crypto.randomUUID());
  return (now) => admit(store, { key, policy, now });
}

/** Sends `count` requests at once and says how many were admitted. */
async function burst(request: (now: number) => Promise<RateDecision>, count: number, now: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: count }, () => request(now)));
  return decisions.filter(({ admitted }) => admitted).length;
}

/** How many of `times` are in the span of `spanMs` (its end excluded) that has the most of them. */
function busiest(times: readonly number[], spanMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(0, ...sorted.map((from) => sorted.filter((time) => time >= from && time < from + spanMs).length));
}

const OWN_SLOTS: RatePolicy = { limit: 4, slots: 4 };
const SHARED_SLOTS: RatePolicy = { limit: 7, slots: 3 };

describe.each([
  ['a slot for each admission', OWN_SLOTS],
  ['shared slots', SHARED_SLOTS],
])('with %s', (_, policy) => {
  /** The time since the last request: none, a short one, or about the time after which slots become free. */
  const gapMs = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 2, arbitrary: fc.integer({ min: 1_000, max: 25_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: MINUTE_MS - 40, max: MINUTE_MS + 40 }) },
  );

  test('no 60 seconds admit more than the limit, whenever requests arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(gapMs, { minLength: 5, maxLength: 40 }), async (gaps) => {
        const request = subject(policy);
        const admitted: number[] = [];
        let now = START;
        for (const gap of gaps) {
          now += gap;
          if ((await request(now)).admitted) admitted.push(now);
        }
        expect(busiest(admitted, MINUTE_MS)).toBeLessThanOrEqual(policy.limit);
        // After a pause a client may use all of its requests at once, however it used them before.
        now += MINUTE_MS + TOLERANCE_MS + 10;
        expect(await burst(request, policy.limit + 2, now)).toBe(policy.limit);
      }),
      { numRuns: runs(15) },
    );
  });

  test.each([TOLERANCE_MS / 2, 5_000])(
    'clocks that are %i ms off shorten the 60 seconds by no more than their difference beyond the tolerance',
    async (offMs) => {
      const arrival = fc.record({ gap: gapMs, off: fc.integer({ min: -offMs, max: offMs }) });
      await fc.assert(
        fc.asyncProperty(fc.array(arrival, { minLength: 5, maxLength: 30 }), async (arrivals) => {
          const request = subject(policy);
          const admitted: number[] = [];
          let now = START;
          for (const { gap, off } of arrivals) {
            now += gap;
            if ((await request(now + off)).admitted) admitted.push(now);
          }
          expect(busiest(admitted, MINUTE_MS - 2 * offMs + TOLERANCE_MS)).toBeLessThanOrEqual(policy.limit);
        }),
        { numRuns: runs(12) },
      );
    },
  );

  test('an answer says exactly how many more requests are admitted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(gapMs, { minLength: 1, maxLength: 10 }), async (gaps) => {
        const request = subject(policy);
        let now = START;
        let last: RateDecision | undefined;
        for (const gap of gaps) {
          now += gap;
          last = await request(now);
        }
        expect(await burst(request, (last?.remaining ?? 0) + 2, now)).toBe(last?.remaining);
      }),
      { numRuns: runs(12) },
    );
  });

  test('a rejected client is admitted after Retry-After, and not one second earlier', async () => {
    const request = subject(policy);
    for (let i = 0; i < policy.limit; i++) expect((await request(START + 7_000 * i)).admitted).toBe(true);
    const now = START + 7_000 * policy.limit;
    const { admitted, remaining, retryAfterSeconds, resetSeconds } = await request(now);
    expect({ admitted, remaining }).toEqual({ admitted: false, remaining: 0 });
    expect(resetSeconds).toBe(retryAfterSeconds);
    expect((await request(now + (retryAfterSeconds - 1) * 1_000)).admitted).toBe(false);
    expect((await request(now + retryAfterSeconds * 1_000)).admitted).toBe(true);
  });
});

test('a request by a clock that is behind frees its shared slot no earlier', async () => {
  const request = subject(SHARED_SLOTS);
  const admitted = [await request(START + 5_000), await request(START)];
  for (let i = 2; i < SHARED_SLOTS.limit; i++) admitted.push(await request(START + 5_000));
  expect(admitted.map((decision) => decision.admitted)).toEqual(Array(SHARED_SLOTS.limit).fill(true));
  expect((await request(START + MINUTE_MS + 1_000)).admitted).toBe(false);
});

describe('when many requests arrive at once', () => {
  test('shared slots admit exactly the limit, even when the limit is not a multiple of their number', async () => {
    expect(await burst(subject({ limit: 47, slots: 5 }), CROWD, START)).toBe(47);
  });

  test('a limit of 1,000,000 admits all requests, and counts them', async () => {
    const request = subject(ratePolicy(1_000_000));
    expect(await burst(request, CROWD, START)).toBe(CROWD);
    expect((await request(START)).remaining).toBe(1_000_000 - CROWD - 1);
  });
});

describe('a request costs', () => {
  test.each([
    [1, 1],
    [60, 1],
    [240, 2],
    [500, 2],
  ])('with a limit of %i, %i writes when the client was idle', async (limit, writes) => {
    const request = subject(ratePolicy(limit));
    await request(START);
    const mark = front.meter.mark();
    await request(START + MINUTE_MS + 100);
    expect(operations(mark)).toHaveLength(writes);
  });

  test('one write when it uses the newest of the shared slots, and two when it opens the next slot', async () => {
    const request = subject(SHARED_SLOTS);
    await request(START);
    const mark = front.meter.mark();
    // The sizes of the slots, in the order in which they are opened: 2, 3, 2.
    for (let i = 1; i < 7; i++) await request(START + i);
    expect(operations(mark)).toHaveLength(6 + 2);
  });

  test('one write when it is rejected, however often', async () => {
    const request = subject(ratePolicy(1));
    await request(START);
    const mark = front.meter.mark();
    const seconds = [];
    for (const now of [START + 10, START + 30_500, START + 60_000]) {
      const { admitted, retryAfterSeconds } = await request(now);
      seconds.push([admitted, retryAfterSeconds]);
    }
    expect(seconds).toEqual([
      [false, 60],
      [false, 30],
      [false, 1],
    ]);
    expect(operations(mark)).toEqual(Array(3).fill('UpdateItem'));
    expect((await request(START + 60_040)).admitted).toBe(true);
  });

  test.each<[limit: number, units: number]>([
    [60, 1],
    [120, 1],
    [121, 1],
    [240, 1],
    [1_000_000, 1],
  ])('when a limit of %i is used up, a request costs at most %i write units', async (limit, units) => {
    const key = rateKey('lists', limit, crypto.randomUUID());
    const policy = ratePolicy(limit);
    // With two minutes between the requests, each request opens a slot, until no slot has its initial time of zero.
    for (let i = 0; i < policy.slots; i++) await admit(store, { key, policy, now: START + i * 2 * MINUTE_MS });
    const { ConsumedCapacity } = await engine.send(
      new UpdateItemCommand({
        TableName: tables.rateLimits,
        Key: { id: { S: key } },
        UpdateExpression: 'SET expires_at = :soon',
        ExpressionAttributeValues: { ':soon': { N: '1800000000' } },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    );
    expect(ConsumedCapacity?.CapacityUnits).toBe(units);
  });
});

describe('when the store fails', () => {
  test.each([
    ['is throttled', 'throttle'],
    ['is broken', 'error-before'],
    ['cannot be reached', 'cut'],
    ['answers and the answer is lost', 'cut-after'],
  ] as const)('a request is refused when the store %s, and the write is not repeated', async (_, effect) => {
    const request = subject(OWN_SLOTS);
    await request(START);
    const mark = front.meter.mark();
    front.faults.add({ match: {}, effect });
    await expect(request(START + 1)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(operations(mark)).toHaveLength(1);
  });
});

test('a row expires only when all slots in it are free again', async () => {
  const key = rateKey('lists', 5, crypto.randomUUID());
  await admit(store, { key, policy: ratePolicy(5), now: Date.now() });
  const { Item } = await engine.send(new GetItemCommand({ TableName: tables.rateLimits, Key: { id: { S: key } } }));
  expect(Number(Item?.expires_at?.N) * 1_000).toBeGreaterThan(Date.now() + MINUTE_MS);
});
