import { expect, test } from 'vitest';
import { STREAMING_LEASE_MS, STREAMS_PER_ACCOUNT_MAX } from '../../../shared/limits.ts';
import { startDynamoDbProxy } from '../../support/dynamodb-proxy.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';

const proxy = await startDynamoDbProxy();
await createTables(dynamoDbClient());
const { takeStreamSlot } = await import('../../../shared/aws/stream-slot-store.ts');

const NOW = Date.now();
const taken = (slots: unknown[]) => slots.filter((slot) => slot !== undefined).length;
const takeMany = (account: string, count: number, now: number) =>
  Promise.all(Array.from({ length: count }, () => takeStreamSlot(account, () => now)));

test('when many take a slot at the same time, exactly the limit get one, even on the first use of the row', async () => {
  expect(taken(await takeMany('a', STREAMS_PER_ACCOUNT_MAX + 10, NOW))).toBe(STREAMS_PER_ACCOUNT_MAX);
  expect(await takeStreamSlot('a', () => NOW)).toBeUndefined();
  expect(await takeStreamSlot('other', () => NOW)).toBeDefined();
});

test('a released slot can be taken again, and releasing it twice frees one slot', async () => {
  const [first] = await takeMany('b', STREAMS_PER_ACCOUNT_MAX, NOW);
  await first?.release();
  await first?.release();
  expect(taken(await takeMany('b', 2, NOW))).toBe(1);
});

test('the slots of a server that died are free when their leases end, and a renewed one is not', async () => {
  const [alive] = await Promise.all([takeStreamSlot('c', () => NOW + 1_000)]);
  await takeMany('c', STREAMS_PER_ACCOUNT_MAX - 1, NOW);
  expect(await takeStreamSlot('c', () => NOW + STREAMING_LEASE_MS - 1)).toBeUndefined();
  await alive?.renew();
  const later = NOW + STREAMING_LEASE_MS;
  expect(taken(await takeMany('c', STREAMS_PER_ACCOUNT_MAX, later))).toBe(STREAMS_PER_ACCOUNT_MAX - 1);
});

/** Loses the answers of the next `count` writes: DynamoDB makes the writes, and then the connection ends. */
function loseAnswers(count: number): void {
  let left = count;
  proxy.setFault((operation) => (operation === 'UpdateItem' && left-- > 0 ? 'cut-after' : undefined));
}

test('a write that takes the last slot and loses its answer is recognised by its next attempt, and costs one slot', async () => {
  const [first] = await takeMany('d', STREAMS_PER_ACCOUNT_MAX, NOW);
  await first?.release();
  loseAnswers(1);
  const slot = await takeStreamSlot('d', () => NOW);
  expect(slot).toBeDefined();
  expect(await takeStreamSlot('d', () => NOW)).toBeUndefined();
  await slot?.release();
  expect(taken(await takeMany('d', 2, NOW))).toBe(1);
});

test('an attempt to take a slot that loses every answer keeps no slot', async () => {
  const [first] = await takeMany('e', STREAMS_PER_ACCOUNT_MAX, NOW);
  await first?.release();
  loseAnswers(3);
  await expect(takeStreamSlot('e', () => NOW)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(taken(await takeMany('e', 2, NOW))).toBe(1);
});

test('a renewal that arrives after the release of its slot takes no slot', async () => {
  const [first] = await takeMany('late', STREAMS_PER_ACCOUNT_MAX, NOW);
  await first?.release();
  await first?.renew();
  expect(taken(await takeMany('late', 2, NOW))).toBe(1);
});
