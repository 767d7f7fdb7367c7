import { test } from 'vitest';
import { expectBalanceUnderRandomUse } from './random-use.ts';

test('whatever clients, events, sweepers and faults do at once, the books balance and the limit holds', () =>
  expectBalanceUnderRandomUse(120));
