import { expect, inject, test } from 'vitest';
import { expectLinearizable } from './concurrent.ts';
import { findDisagreement } from './histories.ts';
import { NO_FAULT } from './planted-faults.ts';
import { SHARED } from './shared-objects.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The kind of the fault that is planted in this project, or {@link NO_FAULT}. */
    planted: string;
  }
}

const kind = inject('planted');
/** The concurrent histories have as many runs together as the others. */
const EACH = Math.ceil(200 / Object.keys(SHARED).length);

test(`200 histories, and as many concurrent ones, find ${kind}`, async () => {
  let found = await findDisagreement(200);
  for (const [object, shared] of Object.entries(SHARED)) {
    found ??= await expectLinearizable(shared, EACH).then(
      () => undefined,
      ({ message }: Error) => ({ by: `concurrent histories of ${object}`, message }),
    );
  }
  console.log(`${kind}: ${found ? `${found.by}: ${found.message}` : 'not found'}`);
  // Otherwise what finds the faults would be a mistake of the histories.
  if (kind === NO_FAULT) expect(found).toBeUndefined();
  else expect(found).toBeDefined();
});
