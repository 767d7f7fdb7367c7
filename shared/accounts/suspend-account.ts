import { ApiError } from '../errors.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { Deadline } from '../time-limit.ts';
import type { AdministrationStore } from './administration-store.ts';
import type { KeyMarkStore } from './key-mark-store.ts';
import { markKeys } from './mark-keys.ts';

export interface SuspendingStores {
  readonly administration: AdministrationStore;
  readonly keyMarks: KeyMarkStore;
  readonly sessions: Pick<SessionStore, 'removeAll'>;
}

export interface SuspendedAccount {
  /** Keys that are refused until the account is restored. */
  readonly keys: number;
  /** Sessions that ended for good. */
  readonly sessions: number;
}

/**
 * Closes an account: when this returns, every key of it is refused, every session has ended, and there will be no new one.
 * Its files stay as they are. Sessions do not come back with a restoration, because one of them may be a thief's.
 *
 * First the account, because keys and sessions are made only while it is open: whatever is not there by then will not be
 * made. If it dies in between, run it again.
 * @returns undefined when the account was restored meanwhile.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function suspendAccount(
  { administration, keyMarks, sessions }: SuspendingStores,
  id: string,
  deadline: Deadline,
): Promise<SuspendedAccount | undefined> {
  if (!(await administration.suspend(id))) throw new ApiError('not_found');
  const ended = await sessions.removeAll(id);
  const keys = await markKeys(keyMarks, id, true, deadline);
  return keys === undefined ? undefined : { keys, sessions: ended };
}
