import { ApiError } from '../errors.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { Deadline } from '../time-limit.ts';
import type { AdministrationStore, KeyMarkStore } from './administration-store.ts';

/**
 * Makes every key of an account follow its state, which must have been written before. Each mark holds to that state: of a
 * suspension and a restoration at once the one that wrote the account last wins everywhere.
 * @returns how many there are; undefined when the state has changed meanwhile.
 */
async function markKeys(
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

interface SuspendingStores {
  readonly administration: AdministrationStore;
  readonly keyMarks: KeyMarkStore;
  readonly sessions: Pick<SessionStore, 'removeAll'>;
}

interface SuspendedAccount {
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
