import { setTimeout as sleep } from 'node:timers/promises';
import { type Check, NotTried } from './check.ts';
import { expectError, expectHeader, expectStatus } from './service.ts';

/** A higher limit is not tried, because it would take too many requests. */
const TRIED_MAX = 1_000;

/** Run this check last, because it uses up the account's limit of lists. */
export const LIMITER_CHECKS: readonly Check[] = [
  {
    name: 'limiter: as many lists succeed as the limit allows, then 429 until Retry-After',
    async run({ service }) {
      const first = expectStatus(await service.ask('/files?limit=1'), 200);
      expectHeader(first, 'ratelimit-policy', /^"lists";q=\d+;w=60$/);
      const limit = numberIn(first.headers['ratelimit-policy'], 'q');
      const left = numberIn(first.headers.ratelimit, 'r');
      if (limit > TRIED_MAX) throw new NotTried(`the limit of ${limit} lists a minute would take too many requests`);
      const answers = await Promise.all(Array.from({ length: left + 20 }, () => service.askOnce('/files?limit=1')));
      const refused = answers.filter(({ status }) => status === 429);
      const admitted = answers.filter(({ status }) => status === 200);
      // While the requests are sent, older requests may leave the 60 seconds that are counted. So more than `left` may be admitted.
      if (admitted.length < left || refused.length === 0) {
        throw new Error(`${admitted.length} of ${answers.length} admitted, but ${left} were left`);
      }
      const [answer] = refused;
      if (!answer) throw new Error('no request was rejected');
      expectError(answer, 429, 'rate_limit_exceeded');
      expectHeader(answer, 'ratelimit', /^"lists";r=0;t=\d+$/);
      expectHeader(answer, 'retry-after', /^\d+$/);
      const waitSeconds = Number(answer.headers['retry-after']);
      await sleep(waitSeconds * 1_000);
      expectStatus(await service.askOnce('/files?limit=1'), 200);
      return `${limit} a minute; admitted again after ${waitSeconds} s`;
    },
  },
];

function numberIn(header: string | undefined, parameter: string): number {
  const value = new RegExp(`;${parameter}=(\\d+)`).exec(header ?? '')?.[1];
  if (value === undefined) throw new Error(`the header has no ${parameter}: ${header}`);
  return Number(value);
}
