import { ApiError } from '../errors.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { Deadline } from '../time-limit.ts';
import type { AdministrationStore, KeyMarkStore } from './administration-store.ts';

interface SuspendingStores {
  readonly administration: AdministrationStore;
  readonly keyMarks: KeyMarkStore;
  readonly sessions: Pick<SessionStore, 'removeAll'>;
}

interface SuspendedAccount {
  /** The number of keys. They are refused until the account is restored. */
  readonly keys: number;
  /** The number of sessions. They have ended for good. */
  readonly sessions: number;
}

/**
 * Suspends an account: when this returns, all its keys are refused, all its sessions have ended, and no new ones can be made. Its files
 * stay as they are. A restoration does not bring sessions back, because one of them may be a thief's.
 *
 * The row of the account is marked first. From then on no key or session can be made for the account. So the later reads of keys and
 * sessions miss none. If we die in between, the operator runs the command again.
 * @returns undefined when the account was restored or deleted meanwhile.
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
 * Restores a suspended account: its keys work again, and its owner may log in. Harmless for an account that is not suspended. If we die in
 * between, some keys are still refused, and the operator runs the command again.
 * @returns the number of keys; undefined when the account was suspended again or deleted meanwhile; `being deleted` when the account stays
 *   suspended, because its deletion has begun.
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

/**
 * Marks every key of an account as suspended or not suspended, like the account. The row of the account must have been written before. Each
 * mark is written on the condition that the account still has this state. So if a suspension and a restoration run at the same time, the
 * last write of the account decides the marks of all keys.
 * @returns the number of keys; undefined when the account has changed its state or was deleted meanwhile.
 */
async function markKeys(
  keyMarks: KeyMarkStore,
  accountId: string,
  isSuspended: boolean,
  deadline: Deadline,
): Promise<number | undefined> {
  let marked = 0;
  // The keys are marked one after another. Each mark is a transaction that checks the account, so two at the same time would only conflict.
  for await (const key of keyMarks.all(accountId)) {
    if (!(await keyMarks.mark(accountId, key, isSuspended, deadline))) return undefined;
    marked++;
  }
  return marked;
}
