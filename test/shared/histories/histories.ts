import fc from 'fast-check';
import { expect } from 'vitest';
import { Run } from './history.ts';
import { applyFault, world } from './started.ts';
import { type History, history } from './steps.ts';

const PROGRESS = 100;

/** In 50 histories each of these happens some ten times or more. Without them nothing would be shown. */
const HAPPENS = (
  'form 201, form 409, again 201, again 202, ticket 202, complete 201, event 200, ' +
  'delete 200, delete 404, list 200, sweep 200, late 200, resume 200'
).split(', ');
const MANY = 50;

/** @returns each action with the status of its answer. @throws Error with what happened, when model and service disagree. */
async function runHistory(one: History): Promise<ReadonlySet<string>> {
  const run = new Run(world, applyFault);
  try {
    await run.run(one);
    return run.answers;
  } catch (error) {
    await world.clear();
    throw new Error(`${(error as Error).stack}\nafter:\n  ${run.transcript.join('\n  ')}`);
  }
}

/**
 * Runs random histories, and prints how many have agreed. A failure shows the shortest history found that fails; finding it takes up to an
 * hour, so the first one is printed at once.
 */
export async function expectAgreement(numRuns: number): Promise<void> {
  let [agreed, hasFailed] = [0, false];
  const answers = new Set<string>();
  const property = fc.asyncProperty(history, async (one) => {
    try {
      for (const answer of await runHistory(one)) answers.add(answer);
    } catch (error) {
      if (!hasFailed) console.log(`history ${agreed + 1} disagrees, and is made shorter:\n${error}`);
      hasFailed = true;
      throw error;
    }
    if (hasFailed) return;
    agreed++;
    if (agreed % PROGRESS === 0) console.log(`${agreed} histories agree`);
  });
  await fc.assert(property, { numRuns });
  expect([...answers]).toEqual(expect.arrayContaining(numRuns < MANY ? [] : HAPPENS));
}

/** @returns the first history that fails, and what it finds; undefined when none fails. */
export async function findDisagreement(numRuns: number): Promise<{ by: string; message: string } | undefined> {
  const property = fc.asyncProperty(history, async (one) => void (await runHistory(one)));
  const checked = await fc.check(property, { numRuns, endOnFailure: true });
  const { message } = (checked.errorInstance as Error | null) ?? {};
  return message === undefined ? undefined : { by: `history ${checked.numRuns} of seed ${checked.seed}`, message };
}
