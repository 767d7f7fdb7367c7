import { ApiError } from '../errors.ts';
import type { Deadline } from '../files/settlement-store.ts';
import type { AdministrationStore } from './administration-store.ts';
import type { CredentialStore } from './credential-store.ts';
import { type MarkedCredentials, markCredentials } from './mark-credentials.ts';

export interface SuspendingStores {
  readonly administration: AdministrationStore;
  readonly credentials: CredentialStore;
}

/**
 * Closes an account: when this returns, every key and session of it is refused, and there will be no new one. Its files
 * stay as they are.
 *
 * First the account, because keys and sessions are made only while it is open: whatever is not there by then will not be
 * made, and all that is there is marked. Whoever dies in between runs it again.
 * @returns undefined when the account was restored meanwhile.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function suspendAccount(
  { administration, credentials }: SuspendingStores,
  id: string,
  deadline: Deadline,
): Promise<MarkedCredentials | undefined> {
  if (!(await administration.suspend(id))) throw new ApiError('not_found');
  return markCredentials(credentials, id, true, deadline);
}
