import { deleteAccount as deleteWhole } from '../../../shared/administration/delete-account.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/contract/limits.ts';
import type { Command } from './command.ts';
import { findAccount } from './find-account.ts';
import { nameOf, several } from './text.ts';

/** Deletes an account for good. If it is interrupted, running it again finishes the deletion. */
export const deleteAccount: Command = {
  arguments: ['<account>'],
  meaning: `Delete the account with its files, keys and sessions. On AWS the bytes of the files are kept for ${DELETED_BYTES_KEPT_DAYS} days, like those of any deleted file. If the command breaks off, run it again`,
  async run(context, name) {
    const account = await findAccount(context, name ?? '');
    await context.confirm(
      `Delete the account ${nameOf(account)} with ${several(account.fileCount, 'file')}, for good?`,
    );
    const { files, leftToSweeper } = await context.logs.audited('account_deleted', { account_id: account.id }, () =>
      deleteWhole(context.stores, account.id, context.deadline),
    );
    const left =
      leftToSweeper > 0
        ? ` The sweeper will remove ${several(leftToSweeper, 'row')} of direct uploads and unfinished deletions, each when it is due.`
        : '';
    return {
      json: { id: account.id, deleted: true, files, left_to_sweeper: leftToSweeper },
      text: `${nameOf(account)} is deleted, with ${several(files, 'file')}.${left}`,
    };
  },
};
