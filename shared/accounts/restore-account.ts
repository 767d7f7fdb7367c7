import { ApiError } from '../errors.ts';
import type { Deadline } from '../files/settlement-store.ts';
import { type MarkedCredentials, markCredentials } from './mark-credentials.ts';
import type { SuspendingStores } from './suspend-account.ts';

/**
 * Opens a suspended account again: its keys, and its sessions as far as they have not ended, work as before. Harmless for
 * an account that is open. Whoever dies in between leaves some of them refused, and runs it again.
 * @returns undefined when the account was suspended again meanwhile; `being deleted` when it stays closed.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function restoreAccount(
  { administration, credentials }: SuspendingStores,
  id: string,
  deadline: Deadline,
): Promise<MarkedCredentials | 'being deleted' | undefined> {
  const outcome = await administration.restore(id);
  if (outcome === 'absent') throw new ApiError('not_found');
  if (outcome === 'being deleted') return outcome;
  return markCredentials(credentials, id, false, deadline);
}
