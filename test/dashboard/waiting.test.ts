import { expect, test } from 'vitest';
import { FileHostingError } from '../../clients/typescript/src/index.ts';
import { failureOf } from '../../dashboard/src/api/failure.ts';
import { nextEvent } from '../../dashboard/src/uploads/next-event.ts';

const reason = new Error('aborted');

test('nextEvent rejects at once with an aborted signal', async () => {
  const signal = AbortSignal.abort(reason);
  await expect(nextEvent(new EventTarget(), 'online', signal)).rejects.toBe(reason);
});

test('nextEvent ends with its event, or when it is aborted', async () => {
  const [target, controller] = [new EventTarget(), new AbortController()];
  const waits = [nextEvent(target, 'online', controller.signal), nextEvent(target, 'other', controller.signal)];
  target.dispatchEvent(new Event('online'));
  await waits[0];
  controller.abort(reason);
  await expect(waits[1]).rejects.toBe(reason);
});

test.each([
  ['a minute', 60, 'rate_limit_exceeded'],
  ['five minutes, as from the firewall', 300, 'rate_limit_exceeded'],
  ['hours', 40_000, 'day_used_up'],
] as const)('a 429 with a Retry-After of %s (%s s) is the failure %s', (_, retryAfter, failure) => {
  expect(failureOf(new FileHostingError('rate_limit_exceeded', { status: 429, retryAfter }))).toBe(failure);
});

test('an error that is not one of the client is an internal_error', () => {
  expect(failureOf(new TypeError('x is not a function'))).toBe('internal_error');
});
