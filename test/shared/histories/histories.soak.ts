import { test } from 'vitest';
import { expectAgreement } from './histories.ts';

/** `HISTORIES=2000 npm run test:soak` runs as many. */
const HISTORIES = Number(process.env.HISTORIES ?? 300);

test(`the service agrees with the model after any of ${HISTORIES} histories`, { timeout: 3 * 3_600_000 }, () =>
  expectAgreement(HISTORIES),
);
