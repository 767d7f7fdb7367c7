import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { expectLinearizable, SHARED } from './concurrent.ts';
import { findDisagreement } from './histories.ts';
import { NO_FAULT } from './planted-faults.ts';
import { FIGURES, runHere } from './record.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kind of the fault that is planted in this project, or {@link NO_FAULT}. */
    planted: string;
  }
}

const kind = inject('planted');

test(`200 histories, sequential or concurrent, find ${kind}`, async () => {
  let problem = await findDisagreement(200);
  for (const shared of Object.values(SHARED)) {
    problem ??= await expectLinearizable(shared, 40).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }
  console.log(`${kind}: ${problem ?? 'not found'}`);
  const here = runHere();
  const result = { ...here, kind, isFound: problem !== undefined };
  if (here) appendFileSync(join(FIGURES, 'planted.jsonl'), `${JSON.stringify(result)}\n`);
  // Otherwise what finds the faults would be a mistake of the histories.
  if (kind === NO_FAULT) expect(problem).toBeUndefined();
  else expect(problem).toBeDefined();
});
