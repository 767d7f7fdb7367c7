import type { Deadline } from '../time-limit.ts';
import type { KeyMarkStore } from './key-mark-store.ts';

/**
 * Makes every key of an account follow its state, which must have been written before. Each mark holds to that state: of a
 * suspension and a restoration at once the one that wrote the account last wins everywhere.
 * @returns how many there are; undefined when the state has changed meanwhile.
 */
export async function markKeys(
  keyMarks: KeyMarkStore,
  accountId: string,
  isSuspended: boolean,
  deadline: Deadline,
): Promise<number | undefined> {
  let marked = 0;
  // One after the other: each of these transactions looks at the account, so two of them would only meet.
  for await (const key of keyMarks.all(accountId)) {
    if (!(await keyMarks.mark(accountId, key, isSuspended, deadline))) return undefined;
    marked++;
  }
  return marked;
}
