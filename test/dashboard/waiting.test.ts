import { expect, test } from 'vitest';
import { failureOf } from '../../dashboard/src/api/failure.ts';
import { nextEvent, pause } from '../../dashboard/src/api/pause.ts';

const reason = new Error('aborted');

test('pause and nextEvent reject at once with an aborted signal', async () => {
  const signal = AbortSignal.abort(reason);
  await expect(pause(60, signal)).rejects.toBe(reason);
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
  ['a minute', '60', 'rate_limit_exceeded'],
  ['five minutes, as from the firewall', '300', 'rate_limit_exceeded'],
  ['hours', '40000', 'day_used_up'],
] as const)('a 429 with a Retry-After of %s (%s s) is the failure %s', (_, retryAfter, code) => {
  const failure = failureOf({ error: 'rate_limit_exceeded' }, retryAfter);
  expect([failure.code, failure.retryAfterSeconds]).toEqual([code, Number(retryAfter)]);
});
