import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { expectAgreement } from './histories.ts';

/** `HISTORIES=2000 npm run test:soak` runs as many, and writes the figures of docs/reliability.md. */
const { HISTORIES } = process.env;
const COUNT = Number(HISTORIES ?? 100);
const FIGURES = join(import.meta.dirname, '../../../docs/reliability/histories.json');

test(`the service agrees with the model after any of ${COUNT} histories`, { timeout: 3 * 3_600_000 }, async () => {
  const seed = await expectAgreement(COUNT);
  if (HISTORIES === undefined) return;
  // `Date` follows the clock of the histories.
  const recordedAt = new Date(performance.timeOrigin + performance.now()).toISOString();
  const figures = { recordedAt, histories: COUNT, seed, disagreements: 0 };
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 2)}\n`);
});
