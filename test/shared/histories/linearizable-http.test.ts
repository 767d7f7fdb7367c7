import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { ROUTES } from '../../../functions/routes.ts';
import type { Client } from '../../support/client.ts';
import { startTestService } from '../../support/service.ts';
import { IS_THOROUGH } from '../../support/thorough.ts';
import { LIMITS } from './limits.ts';
import { recorder } from './linearizability.ts';
import { type Account, type Asked, clientsOf, expectOrder, SHARED, type Told, told } from './shared-objects.ts';

const { STORAGE_LIMIT_BYTES, FILE_COUNT_LIMIT, RATE_LIMIT_LISTS_PER_MINUTE } = LIMITS;
const service = await startTestService({
  STORAGE_LIMIT_BYTES: String(STORAGE_LIMIT_BYTES),
  FILE_COUNT_LIMIT: String(FILE_COUNT_LIMIT),
  RATE_LIMIT_LISTS_PER_MINUTE: String(RATE_LIMIT_LISTS_PER_MINUTE),
});
// The client of a direct upload completes it, not the event of the bucket.
service.holdEvents();
/** As at AWS, and never in the engines, transactions on one item conflict. */
service.front.faults.add({
  match: { service: 'dynamodb', operation: 'TransactWriteItems' },
  effect: 'conflict',
  every: 3,
});
afterAll(() => service.close());

/** Half of the shortest window of a rate limit. */
const WINDOW_MS = 30_000;

test.for(Object.entries(SHARED))('%s is linearizable through HTTP', { timeout: 30 * 60_000 }, ([, shared]) =>
  expectOrder(shared, shared.asked, IS_THOROUGH ? 40 : 4, async (plans) => {
    const { byKey, bySession } = await service.newAccount();
    const { named, perform } = await clientsOf({ byKey: sender(byKey), bySession: sender(bySession) }, shared);
    const { calls, call } = recorder<Asked, Told>();
    const startedAt = performance.now();
    const work = async (plan: readonly Asked[]) => {
      for (const asked of plan) {
        const one = named(asked);
        if (one) await call(one, async () => told(await perform(one)));
      }
    };
    await Promise.all(plans.map(work));
    // Another history is tried when the limits have begun to admit more meanwhile.
    fc.pre(performance.now() - startedAt < WINDOW_MS);
    return calls;
  }),
);

/** Sends the requests of histories through HTTP. */
function sender(client: Client): Account['byKey'] {
  const send = (name: keyof typeof ROUTES, { id = '', headers = {}, json, form }: Parameters<Account['byKey']>[1]) => {
    const path = ROUTES[name].path.replace('/api/v1', '').replace('{id}', id);
    if (form) return client.upload(form.name, form.content, { type: 'text/plain', headers });
    return json ? client.postJson(path, json, headers) : client.request(ROUTES[name].method, path, { headers });
  };
  return async (name, request) => {
    const { status, body, headers } = await send(name, request);
    return { status, body, headers: { RateLimit: headers.get('ratelimit') } };
  };
}
