import { log } from '../log.ts';
import { type AuditingStores, auditAccount, type Difference } from './audit-account.ts';
import { type DeletingStores, deleteFile } from './delete-file.ts';

export interface ReconcilingStores extends AuditingStores, DeletingStores {
  readonly objects: AuditingStores['objects'] & DeletingStores['objects'];
}

export interface ReconcileOptions {
  /** One account; absent: all. */
  readonly accountId?: string;
  /** False: only look. */
  readonly repair: boolean;
  /** When retries of a file's deletion end, in epoch milliseconds. */
  readonly deadlineAt: number;
}

export interface AccountReport {
  readonly accountId: string;
  readonly differences: Difference[];
  /** False also when the account changed while we looked; then look again. */
  readonly isRepaired: boolean;
}

/**
 * Rebuilds what is derived (usage, counts, listing counters) from the rows, and finds files whose object is missing or of
 * another size; `repair` writes the books anew and deletes those files. (Objects without a row are for the sweeper's walk
 * of the bucket.)
 *
 * For an operator, after tables were restored or edited. It is safe beside traffic: the books are rewritten only if the
 * account's row is still what the audit began with; but an audit of an account in use may report what is just changing.
 */
export async function* reconcile(
  stores: ReconcilingStores,
  { accountId, repair, deadlineAt }: ReconcileOptions,
): AsyncGenerator<AccountReport> {
  const ids = accountId === undefined ? stores.audit.accountIds() : [accountId];
  for await (const id of ids) {
    const { differences, recorded, computed } = await auditAccount(stores, id);
    let isRepaired = false;
    if (repair && differences.length > 0) {
      isRepaired = await stores.audit.rewrite(id, recorded, computed);
      if (isRepaired) await deleteBrokenFiles(stores, differences, deadlineAt);
    }
    if (differences.length > 0) log('warn', 'books do not balance', { accountId: id, differences, isRepaired });
    yield { accountId: id, differences, isRepaired };
  }
}

async function deleteBrokenFiles(
  stores: ReconcilingStores,
  differences: readonly Difference[],
  deadlineAt: number,
): Promise<void> {
  for (const difference of differences) {
    if (difference.what === 'object') await deleteFile(stores, difference.file, { deadlineAt });
  }
}
