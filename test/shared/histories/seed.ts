import fc from 'fast-check';

/**
 * Chooses the seed of random histories, and prints it, so that they can be run again: `SEED=<seed> npx vitest run test/shared/histories`. In
 * continuous integration the seed is the same in every run (see `test/support/fixed-seed.ts`).
 */
export function printedSeed(what: string): number {
  const seed = Number(process.env.SEED ?? fc.readConfigureGlobal()?.seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${what} with SEED=${seed}`);
  return seed;
}
