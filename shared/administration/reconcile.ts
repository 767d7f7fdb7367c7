import { undefinedIfNotFound } from '../errors.ts';
import { type DeletingStores, deleteFile } from '../files/delete-file.ts';
import { describeError, log } from '../log.ts';
import { type Audit, type AuditingStores, auditAccount, type Difference } from './audit-account.ts';

export interface ReconcilingStores extends AuditingStores, DeletingStores {
  readonly objects: AuditingStores['objects'] & DeletingStores['objects'];
}

export interface ReconcileOptions {
  /** Only this account; all accounts when absent. */
  readonly accountId?: string;
  /** If false, differences are reported but not corrected. */
  readonly repair: boolean;
}

export interface AccountReport {
  readonly accountId: string;
  readonly differences: Difference[];
  /**
   * Also false when the account changed meanwhile, or a file could not be deleted; then run it again. If a difference in the `listing`
   * stays, the row of that file was edited by hand, and has to be mended by hand.
   */
  readonly isRepaired: boolean;
}

/** How long a write to an account waits for its other writers. */
const PATIENCE_MS = 60_000;

/**
 * Recomputes the books (usage, counts, listing counters) from the rows, and finds files whose object is missing or of another
 * size. `repair` replaces the books, makes the sweeper write wrong seals again, and deletes those files. (The sweeper's walk of the
 * bucket removes objects without a row.)
 *
 * The operator runs it after tables were restored or edited. It is safe while there is traffic: the books are replaced only
 * if nothing has changed them since the audit began. For an account in constant use that may fail again and again; then
 * suspend the account first. See {@link auditAccount} for what a report during traffic means.
 * @throws ApiError `not_found` when `accountId` does not exist.
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
    const report = await reconcileAccount(stores, id, repair).catch(undefinedIfNotFound);
    // Undefined when the account was deleted after its id was read.
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

/** Replaces the books first, because a deletion changes them. Files are deleted even when the books could not be replaced. */
async function repairAccount(
  stores: ReconcilingStores,
  accountId: string,
  { differences, recorded, computed }: Audit,
): Promise<boolean> {
  const areBooksRight = differences.every(({ what }) => what === 'object' || what === 'seal' || what === 'listing');
  const areRewritten = areBooksRight || (await stores.audit.rewrite(accountId, recorded, computed, deadline()));
  // An entry of the listing belongs to the row of its file, which nothing here writes.
  let isRepaired = areRewritten && !differences.some(({ what }) => what === 'listing');
  for (const difference of differences) {
    if (difference.what === 'seal') await stores.audit.unseal(accountId, difference.leaf, deadline());
    if (difference.what !== 'object') continue;
    try {
      // The file's owner may have deleted it meanwhile.
      await deleteFile(stores, difference.file, deadline()).catch(undefinedIfNotFound);
    } catch (error) {
      isRepaired = false;
      log('error', 'broken file not deleted', { fileId: difference.file.id, ...describeError(error) });
    }
  }
  return isRepaired;
}

const deadline = () => ({ deadlineAt: Date.now() + PATIENCE_MS });
