import fc from 'fast-check';
import { Run } from './history.ts';
import { printedSeed } from './seed.ts';
import { applyFault, world } from './started.ts';
import { type History, history } from './steps.ts';

const PROGRESS = 100;

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

export interface HistoriesRun {
  readonly seed: number;
  /** How many ran before the first that failed, and this one. */
  readonly histories: number;
  readonly disagreements: number;
}

/**
 * Runs random histories, and prints how many have agreed. A failure shows the shortest history found that fails; finding it takes up to an
 * hour, so the first one is printed at once.
 * @param record  is told the result, whatever it is.
 */
export async function expectAgreement(numRuns: number, record: (run: HistoriesRun) => void = () => {}): Promise<void> {
  const seed = printedSeed(`${numRuns} histories`);
  let [agreed, hasFailed] = [0, false];
  const property = fc.asyncProperty(history, async (one) => {
    try {
      await runHistory(one);
    } catch (error) {
      if (!hasFailed) {
        console.log(`history ${agreed + 1} disagrees, and is made shorter:\n${error}`);
        record({ seed, histories: agreed + 1, disagreements: 1 });
      }
      hasFailed = true;
      throw error;
    }
    if (hasFailed) return;
    agreed++;
    if (agreed % PROGRESS === 0) console.log(`${agreed} histories agree`);
  });
  await fc.assert(property, { numRuns, seed });
  record({ seed, histories: agreed, disagreements: 0 });
}

/** @returns what the first history finds that fails; undefined when none does. */
export async function findDisagreement(numRuns: number) {
  const property = fc.asyncProperty(history, runHistory);
  const checked = await fc.check(property, { numRuns, seed: printedSeed(`${numRuns} histories`), endOnFailure: true });
  return (checked.errorInstance as Error | null)?.message;
}
