import type { Difference } from '../../../shared/administration/audit-account.ts';
import { type AccountReport, reconcile as reconcileBooks } from '../../../shared/administration/reconcile.ts';
import type { Command } from './command.ts';
import { findAccount } from './find-account.ts';
import { nameOf, printable, several } from './text.ts';

/**
 * Compares the books with the rows, and the rows with the bucket. Corrects the books, and deletes files whose object is missing or has
 * another size.
 */
export const reconcile: Command = {
  arguments: ['[<account>]'],
  meaning:
    'Compare usage and counts with the files, and the files with the bucket, for one account or for all. Correct the usage and the counts. Make the sweeper correct the names by which searches find files. Delete files whose object is missing or has another size',
  takesDryRun: true,
  async run(context, name) {
    const account = name === undefined ? undefined : await findAccount(context, name);
    if (!context.isDryRun) {
      const whose = account ? nameOf(account) : 'all accounts';
      await context.confirm(
        `Correct the books of ${whose}, and delete files whose object is missing or has another size?`,
      );
    }
    const options = { repair: !context.isDryRun, ...(account && { accountId: account.id }) };
    const differing: AccountReport[] = [];
    let accounts = 0;
    const compare = async () => {
      for await (const report of reconcileBooks(context.stores, options)) {
        accounts++;
        if (report.differences.length > 0) differing.push(report);
      }
    };
    if (context.isDryRun) await compare();
    else await context.logs.audited('books_corrected', { account_id: account?.id ?? 'all' }, compare);
    const counted = `${several(accounts, 'account')} compared, ${differing.length} with differences`;
    return {
      json: {
        accounts,
        differing: differing.map(({ accountId, isRepaired, differences }) => ({
          id: accountId,
          repaired: isRepaired,
          differences: differences.map(toJson),
        })),
      },
      text: [...differing.flatMap(toLines), `${counted}.`].join('\n'),
      isBad: differing.some(({ isRepaired }) => !isRepaired),
    };
  },
};

function toJson(difference: Difference): object {
  if (difference.what === 'object') {
    const { id, name, sizeBytes } = difference.file;
    return { what: 'object', file_id: id, name, size_bytes: sizeBytes, found_bytes: difference.foundBytes ?? null };
  }
  return difference.what === 'listing' ? { what: 'listing', file_id: difference.fileId } : difference;
}

function toLines({ accountId, differences, isRepaired }: AccountReport): string[] {
  return [
    `${accountId} (${isRepaired ? 'corrected' : 'not corrected'})`,
    ...differences.map((one) => `  ${toLine(one)}`),
  ];
}

function toLine(difference: Difference): string {
  if (difference.what === 'object') {
    const { file, foundBytes } = difference;
    const found = foundBytes === undefined ? 'no object' : `an object of ${foundBytes} bytes`;
    return `file ${file.id} "${printable(file.name)}" of ${file.sizeBytes} bytes has ${found}`;
  }
  if (difference.what === 'listing') return `file ${difference.fileId} has a wrong entry in the listing`;
  if (difference.what === 'seal') return `leaf ${difference.leaf} has wrong names for searches`;
  if (difference.what === 'unreadable seals') {
    return `names for searches were folded by another version of Unicode in ${several(difference.leaves.length, 'seal')}`;
  }
  const where = 'index' in difference ? ` ${difference.index}` : '';
  return `${difference.what}${where}: the books say ${difference.recorded}, the files ${difference.computed}`;
}
