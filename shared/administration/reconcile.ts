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
   * True when all differences were repaired. If it is false in spite of `repair`, the account has changed meanwhile, a file could not be
   * deleted, or the listing is wrong: run the command again. If a difference in the `listing` stays, the row of that file was edited by
   * hand, and has to be mended by hand.
   */
  readonly isRepaired: boolean;
}

const OUTSIDE_THE_BOOKS: ReadonlySet<Difference['what']> = new Set(['object', 'seal', 'unreadable seals', 'listing']);

/** How long a write to an account waits for other writers of the account. */
const PATIENCE_MS = 60_000;

/**
 * Recomputes the books (usage, counts, listing counters) from the rows, and finds wrong seals and files whose object is missing or has
 * another size. With `repair`, it also replaces the books, makes the sweeper write wrong seals again, and deletes these files. (The walk of
 * the bucket removes objects without a row.)
 *
 * The operator runs this after tables were restored or edited by hand. It is safe while clients use the account, because the books are
 * replaced only if they have not changed since the audit began. If the books of a busy account change during every run, suspend the account
 * first. {@link auditAccount} says what a report means if files were added or deleted meanwhile.
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

/**
 * Replaces the books before it deletes files: after a deletion, which changes the books, they could not be replaced. Files are deleted even
 * if the books could not be replaced.
 */
async function repairAccount(
  stores: ReconcilingStores,
  accountId: string,
  { differences, recorded, computed }: Audit,
): Promise<boolean> {
  const areBooksRight = differences.every(({ what }) => OUTSIDE_THE_BOOKS.has(what));
  const areRewritten = areBooksRight || (await stores.audit.rewrite(accountId, recorded, computed, deadline()));
  // An entry of the listing is made from the row of its file. Nothing here corrects that row, so the difference stays.
  let isRepaired = areRewritten && !differences.some(({ what }) => what === 'listing');
  for (const difference of differences) {
    for (const leaf of leavesToSeal(difference)) await stores.audit.unseal(accountId, leaf, deadline());
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

/**
 * After a newer Unicode these may be many leaves. They become due one after another, and the sweeper writes several seals at a time, so it
 * keeps pace.
 */
function leavesToSeal(difference: Difference): readonly number[] {
  if (difference.what === 'seal') return [difference.leaf];
  return difference.what === 'unreadable seals' ? difference.leaves : [];
}

const deadline = () => ({ deadlineAt: Date.now() + PATIENCE_MS });
