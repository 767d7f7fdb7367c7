import { ApiError } from '../errors.ts';
import { type DeletingStores, deleteFile } from '../files/delete-file.ts';
import { describeError, log } from '../log.ts';
import { type Audit, type AuditingStores, auditAccount, type Difference } from './audit-account.ts';

export interface ReconcilingStores extends AuditingStores, DeletingStores {
  readonly objects: AuditingStores['objects'] & DeletingStores['objects'];
}

export interface ReconcileOptions {
  /** One account; absent: all. */
  readonly accountId?: string;
  /** False: only look. */
  readonly repair: boolean;
}

export interface AccountReport {
  readonly accountId: string;
  readonly differences: Difference[];
  /** False also when the account changed while we looked, or a file could not be deleted; then look again. */
  readonly isRepaired: boolean;
}

/** How long a write to an account waits for other writers of it. */
const PATIENCE_MS = 60_000;

/**
 * Rebuilds what is derived (usage, counts, listing counters) from the rows, and finds files whose object is missing or of
 * another size; `repair` writes the books anew and deletes those files. (Objects without a row are for the sweeper's walk
 * of the bucket.)
 *
 * For an operator, after tables were restored or edited. It is safe beside traffic: the books are rewritten only if nothing
 * has changed them since the audit began. An account in constant use can therefore be looked at several times in vain;
 * then suspend it first. What a report beside traffic means is said at {@link auditAccount}.
 * @throws ApiError `not_found` when the account that was asked for does not exist.
 */
export async function* reconcile(
  stores: ReconcilingStores,
  { accountId, repair }: ReconcileOptions,
): AsyncGenerator<AccountReport> {
  if (accountId !== undefined) {
    yield await reconcileAccount(stores, accountId, repair);
    return;
  }
  for await (const id of stores.audit.accountIds()) {
    const report = await reconcileAccount(stores, id, repair).catch(undefinedIfGone);
    // Absent: the account was deleted since its id was read.
    if (report) yield report;
  }
}

async function reconcileAccount(stores: ReconcilingStores, accountId: string, repair: boolean): Promise<AccountReport> {
  const audit = await auditAccount(stores, accountId);
  const { differences } = audit;
  if (differences.length === 0) return { accountId, differences, isRepaired: false };
  const isRepaired = repair && (await repairAccount(stores, accountId, audit));
  log('warn', 'books do not balance', { accountId, differences, isRepaired });
  return { accountId, differences, isRepaired };
}

/** First the books, since a deletion changes them. A file is deleted whether they could be rewritten or not. */
async function repairAccount(
  stores: ReconcilingStores,
  accountId: string,
  { differences, recorded, computed }: Audit,
): Promise<boolean> {
  const areBooksRight = differences.every(({ what }) => what === 'object');
  let isRepaired = areBooksRight || (await stores.audit.rewrite(accountId, recorded, computed, inTime()));
  for (const difference of differences) {
    if (difference.what !== 'object') continue;
    try {
      // Undefined also when the file's owner has deleted it meanwhile.
      await deleteFile(stores, difference.file, inTime()).catch(undefinedIfGone);
    } catch (error) {
      isRepaired = false;
      log('error', 'broken file not deleted', { fileId: difference.file.id, ...describeError(error) });
    }
  }
  return isRepaired;
}

const inTime = () => ({ deadlineAt: Date.now() + PATIENCE_MS });

function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
}
