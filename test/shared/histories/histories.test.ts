import { test } from 'vitest';
import { expectAgreement } from './histories.ts';

test('the service agrees with the model after any history', { timeout: 30 * 60_000 }, () => expectAgreement(17));
