import { afterAll, expect, test } from 'vitest';
import { SEED } from '../support/seed.ts';
import { readCorpus, TARGETS, writeCorpus } from './corpus.ts';
import { stopTracing } from './coverage.ts';
import { fuzz } from './fuzz.ts';

afterAll(stopTracing);

/** With `FUZZ_MINUTES=60`, the targets share an hour, and what was found is added to the corpus. Otherwise the run is short. */
const MINUTES = Number(process.env.FUZZ_MINUTES ?? 0);

test.each(TARGETS)('%s: mutations break no promise', { timeout: (MINUTES + 10) * 60_000 }, async (name, target) => {
  const corpus = readCorpus(name);
  const end = Date.now() + (MINUTES / TARGETS.length) * 60_000;
  const isOver = (mutations: number) => (MINUTES > 0 ? Date.now() > end : mutations >= 2_000);
  const { found, mutations } = await fuzz(target, { corpus, seed: SEED, isOver });
  expect(mutations).toBeGreaterThan(0);
  // A person should be able to read the corpus.
  const readable = found.filter((input) => input.length <= 500);
  if (MINUTES > 0 && readable.length > 0) writeCorpus(name, [...corpus, ...readable]);
});
