import { test } from 'vitest';
import { IS_THOROUGH } from '../../support/thorough.ts';
import { expectLinearizable, idempotency, limiter, quota, revocation, type Shared, total } from './concurrent.ts';

const RUNS = IS_THOROUGH ? 200 : 15;

test.for<[name: string, shared: Shared<never>]>([
  ['the storage of an account', quota as Shared<never>],
  ['the total of a list', total as Shared<never>],
  ['the revocation of a key', revocation as Shared<never>],
  ['the rate limit', limiter as Shared<never>],
  ['an Idempotency-Key', idempotency as Shared<never>],
])('%s is linearizable, whatever clients and faults do at once', ([, shared]) => expectLinearizable(shared, RUNS));
