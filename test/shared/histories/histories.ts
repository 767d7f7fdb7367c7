import fc from 'fast-check';
import { Run } from './history.ts';
import { printedSeed } from './seed.ts';
import { applyFault, world } from './started.ts';
import { type History, history } from './steps.ts';

/** @throws Error with what happened, when model and service disagree. */
async function runHistory(one: History): Promise<void> {
  const run = new Run(world, applyFault);
  try {
    await run.run(one);
  } catch (error) {
    await world.clear();
    throw new Error(`${(error as Error).stack}\nafter:\n  ${run.transcript.join('\n  ')}`);
  }
}

/** Runs random histories. A failure shows the shortest history found that fails. @returns their seed. */
export async function expectAgreement(numRuns: number): Promise<number> {
  const seed = printedSeed(`${numRuns} histories`);
  await fc.assert(fc.asyncProperty(history, runHistory), { numRuns, seed });
  return seed;
}

/** @returns what the first history finds that fails; undefined when none does. */
export async function findDisagreement(numRuns: number) {
  const property = fc.asyncProperty(history, runHistory);
  const checked = await fc.check(property, { numRuns, seed: printedSeed(`${numRuns} histories`), endOnFailure: true });
  return (checked.errorInstance as Error | null)?.message;
}
