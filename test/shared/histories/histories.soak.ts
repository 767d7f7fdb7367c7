import { test } from 'vitest';
import { expectAgreement } from './histories.ts';

const COUNT = Number(process.env.HISTORIES ?? 100);

test(`the service agrees with the model after any of ${COUNT} histories`, { timeout: 3 * 3_600_000 }, () =>
  expectAgreement(COUNT),
);
