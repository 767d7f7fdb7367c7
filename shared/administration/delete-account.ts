import type { ApiKeyStore } from '../api-keys/api-key.ts';
import { eachOf } from '../each-of.ts';
import { ApiError, undefinedIfNotFound } from '../errors.ts';
import { type CancellingStores, cancelTicket } from '../files/cancel-ticket.ts';
import { type DeletingStores, deleteFile } from '../files/delete-file.ts';
import type { FileRef } from '../files/file.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { Deadline } from '../time-limit.ts';
import type { AdministrationStore, AuditStore, KeyMarkStore } from './administration-store.ts';

export interface AccountDeletingStores extends DeletingStores, CancellingStores {
  readonly administration: AdministrationStore;
  readonly keyMarks: KeyMarkStore;
  readonly keys: ApiKeyStore;
  readonly sessions: SessionStore;
  readonly audit: Pick<AuditStore, 'rows' | 'tickets'>;
}

export interface DeletedAccount {
  /** Files that were deleted. Their links are dead on the CDN within a minute. */
  readonly files: number;
  /**
   * Rows that the sweeper removes later: those of deleted files whose objects still exist, and those of tickets. These tickets can no
   * longer become files.
   */
  readonly leftToSweeper: number;
}

/** Each deletion writes the account's row, so more deletions at the same time would only conflict. */
const CONCURRENCY = 4;

/**
 * Deletes an account and all it owns. The account is suspended first, so that nothing can be added to it. The row of the account is removed
 * last. So if we fail or die anywhere, another run can finish the deletion. A later login makes a new, empty account.
 * @throws ApiError `not_found` when there is no such account.
 */
export async function deleteAccount(
  stores: AccountDeletingStores,
  id: string,
  deadline: Deadline,
): Promise<DeletedAccount> {
  const { administration, keyMarks, keys, sessions, audit } = stores;
  if (!(await administration.beginDeletion(id))) throw new ApiError('not_found');
  await sessions.removeAll(id);
  for await (const key of keyMarks.all(id)) await keys.remove(id, key.id, deadline);
  // If the file or ticket is not found, its owner or the sweeper has deleted it meanwhile. The rows of cancelled tickets stay for the
  // sweeper, because bytes may still arrive.
  const end = (ref: FileRef) => deleteFile(stores, ref, deadline).catch(undefinedIfNotFound);
  const cancel = (ref: FileRef) => cancelTicket(stores, ref, deadline).catch(undefinedIfNotFound);
  const tickets = await Array.fromAsync(audit.tickets(id));
  const pending = tickets.filter(({ state }) => state === 'pending');
  await eachOf(pending, CONCURRENCY, cancel);
  const rows = await Array.fromAsync(audit.rows(id));
  const files = rows.filter(({ state }) => state === 'ready');
  await eachOf(files, CONCURRENCY, end);
  // The records are removed after the files, because each deletion of a file writes the row of its leaf. Nothing else creates rows of
  // leaves while the account is suspended.
  await administration.removeRecords(id);
  const left = await Array.fromAsync(audit.rows(id));
  await administration.remove(id);
  return { files: files.length, leftToSweeper: left.length + tickets.length };
}
