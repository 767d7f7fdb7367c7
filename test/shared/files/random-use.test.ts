import { test } from 'vitest';
import { expectBalanceUnderRandomUse } from './random-use.ts';

test('the books balance and the limit holds whatever clients, events, sweepers and faults do at once', () =>
  expectBalanceUnderRandomUse(2));
