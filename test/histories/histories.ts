import fc from 'fast-check';
import { faultsOfProduct } from '../shared/files/faults.ts';
import { history, Run } from './history.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const applyFault = await faultsOfProduct();

/** Runs random histories. A failure prints the seed, and the shortest history found that fails. */
export async function expectAgreement(numRuns: number): Promise<void> {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const path = process.env.HISTORY_PATH;
  console.log(`${numRuns} histories with seed ${seed}`);
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const run = new Run(world, applyFault);
      try {
        await run.run(steps);
      } catch (error) {
        await world.clear();
        throw new Error(`${(error as Error).stack}\nafter:\n  ${run.transcript.join('\n  ')}`);
      }
    }),
    { numRuns, seed, ...(path && { path }) },
  );
}
