import { ApiError } from '../errors.ts';
import type { Deadline } from '../time-limit.ts';
import { markKeys } from './mark-keys.ts';
import type { SuspendingStores } from './suspend-account.ts';

/**
 * Opens a suspended account again: its keys work as before, and its owner may log in. Harmless for an account that is open.
 * If it dies in between, some keys are still refused: run it again.
 * @returns how many keys it has; undefined when the account was suspended again meanwhile; `being deleted` when it stays
 *   closed.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function restoreAccount(
  { administration, keyMarks }: Pick<SuspendingStores, 'administration' | 'keyMarks'>,
  id: string,
  deadline: Deadline,
): Promise<number | 'being deleted' | undefined> {
  const outcome = await administration.restore(id);
  if (outcome === 'absent') throw new ApiError('not_found');
  if (outcome === 'being deleted') return outcome;
  return markKeys(keyMarks, id, false, deadline);
}
