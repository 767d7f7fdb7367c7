import { expect, inject, test } from 'vitest';
import { expectLinearizable, SHARED } from './concurrent.ts';
import { findDisagreement } from './histories.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kind of the fault that is planted in this project. */
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
  expect(problem).toBeDefined();
});
