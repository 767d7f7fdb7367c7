import { probeDatabase } from '../shared/aws/account-store.ts';
import { cached } from '../shared/aws/cached.ts';
import { probeStorage } from '../shared/aws/object-store.ts';
import type { Health } from '../shared/contract/answers.ts';
import { required } from '../shared/env.ts';
import { describeError, log } from '../shared/log.ts';
import { routeStack } from '../shared/stack/route-stack.ts';
import { health as route } from './health.route.ts';

/** A dependency that does not answer within this time counts as down. */
const PROBE_MS = 2_000;
/**
 * A process probes at most this often. The route is open to everyone, and a flood of requests must not become a flood of calls to AWS. For
 * this long after an outage begins or ends, the answer may be wrong.
 */
const PROBED_EVERY_MS = 3_000;

const commit = required('COMMIT');

const database = cached(() => state('db', probeDatabase), { keepMs: PROBED_EVERY_MS });
const storage = cached(() => state('storage', probeStorage), { keepMs: PROBED_EVERY_MS });

/** GET /health: 200 when the database and the storage answer, else 503. This 503 is the only error with a body of its own. */
export const handler = routeStack(route, [], async () => {
  const [db, bucket] = await Promise.all([database(), storage()]);
  const isWell = db === 'ok' && bucket === 'ok';
  return {
    statusCode: isWell ? 200 : 503,
    headers: { 'Content-Type': 'application/json', 'X-Commit': commit, ...(!isWell && { 'Retry-After': '5' }) },
    body: JSON.stringify({ status: isWell ? 'ok' : 'degraded', db, storage: bucket } satisfies Health),
  };
});

/** Never throws, so that a failure is cached as long as a success. */
async function state(name: string, probe: (signal: AbortSignal) => Promise<unknown>): Promise<'ok' | 'error'> {
  try {
    await probe(AbortSignal.timeout(PROBE_MS));
    return 'ok';
  } catch (error) {
    log('error', 'probe failed', { probe: name, ...describeError(error) });
    return 'error';
  }
}
