import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { beginRecordedRun, FIGURES } from '../../support/record.ts';
import { expectAgreement } from './histories.ts';

/**
 * `HISTORIES=2000 npm run test:soak` runs as many, and records the result for docs/reliability.md, whatever it is. Runs of the same commit
 * with other seeds are recorded together, so that two processors can share the work.
 */
const { HISTORIES } = process.env;
const COUNT = Number(HISTORIES ?? 100);
const RECORD = join(FIGURES, 'histories.json');

test(`the service agrees with the model after any of ${COUNT} histories`, { timeout: 3 * 3_600_000 }, async () => {
  if (HISTORIES === undefined) return expectAgreement(COUNT);
  const here = beginRecordedRun();
  await expectAgreement(COUNT, (run) => {
    const recorded: { commit: string; seed: number }[] = JSON.parse(readFileSync(RECORD, 'utf8'));
    const others = recorded.filter(({ commit, seed }) => commit === here.commit && seed !== run.seed);
    writeFileSync(RECORD, `${JSON.stringify([...others, { ...here, ...run }], null, 2)}\n`);
  });
});
