import { afterAll, expect, test } from 'vitest';
import { headerParameters } from '../../shared/upload-form/header-parameters.ts';
import { SEED } from '../support/seed.ts';
import { readCorpus, TARGETS } from './corpus.ts';
import { stopTracing } from './coverage.ts';
import { fuzz } from './fuzz.ts';

afterAll(stopTracing);

test.each(TARGETS)(
  '%s: the inputs of the corpus, and 256 mutations of them, break no promise',
  async (name, target) => {
    await fuzz(target, { corpus: readCorpus(name), seed: SEED, isOver: (mutations) => mutations >= 256 });
  },
);

const HEADERS = { stepsPerByte: 20, words: [';a="', '"'], seeds: ['x;a="b"'] };
const RUN = { corpus: [], seed: 1, isOver: (mutations: number) => mutations >= 5_000 };

test('a broken promise is found, and its input and seed are named', async () => {
  const check = (header: string) => {
    if (headerParameters(header).size > 2) throw new Error('three parameters');
  };
  await expect(fuzz({ ...HEADERS, check }, RUN)).rejects.toThrow(
    /^the input ".*" \(seed 1\): Error: three parameters$/,
  );
});

test('work that grows with the square of the length is found', async () => {
  const check = (header: string) => {
    for (let repeat = 0; repeat < header.length; repeat++) headerParameters(header);
  };
  await expect(fuzz({ ...HEADERS, check }, RUN)).rejects.toThrow(/took \d+ steps$/);
});
