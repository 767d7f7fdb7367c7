import { expect, inject, test } from 'vitest';
import { findDisagreement } from './histories.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kind of the fault that is planted in this project. */
    planted: string;
  }
}

test(`200 histories find ${inject('planted')}`, async () => {
  const { histories, problem } = await findDisagreement(200);
  console.log(`${inject('planted')}: found by history ${histories}: ${problem}`);
  expect(problem).toBeDefined();
});
