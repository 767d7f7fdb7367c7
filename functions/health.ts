import { probeDatabase, probeStorage } from '../shared/aws/probes.ts';
import { routeStack } from '../shared/http/route-stack.ts';
import { describeError, log } from '../shared/log.ts';

/** A dependency that does not answer within this long counts as down. */
const PROBE_MS = 2_000;

/** GET /health: 200 when the database and the storage answer, else 503; the one error that has a body of its own. */
export const handler = routeStack('health', [], async () => {
  const [db, storage] = await Promise.all([state('db', probeDatabase), state('storage', probeStorage)]);
  const isWell = db === 'ok' && storage === 'ok';
  return {
    statusCode: isWell ? 200 : 503,
    headers: { 'Content-Type': 'application/json', ...(!isWell && { 'Retry-After': '5' }) },
    body: JSON.stringify({ status: isWell ? 'ok' : 'degraded', db, storage }),
  };
});

async function state(name: string, probe: (signal: AbortSignal) => Promise<unknown>): Promise<'ok' | 'error'> {
  try {
    await probe(AbortSignal.timeout(PROBE_MS));
    return 'ok';
  } catch (error) {
    log('error', 'probe failed', { probe: name, ...describeError(error) });
    return 'error';
  }
}
