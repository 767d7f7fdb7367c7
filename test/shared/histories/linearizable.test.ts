import { test } from 'vitest';
import { IS_THOROUGH } from '../../support/thorough.ts';
import { expectLinearizable } from './concurrent.ts';
import { SHARED } from './shared-objects.ts';

test.for(Object.entries(SHARED))('%s is linearizable, whatever clients and faults do at once', ([, shared]) =>
  expectLinearizable(shared, IS_THOROUGH ? 200 : 5),
);
