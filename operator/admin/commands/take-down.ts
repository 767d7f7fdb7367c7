import { findPublished, takeDown as takeDownObject } from '../../../shared/administration/take-down.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/contract/limits.ts';
import { objectKeyOfLink } from '../../../shared/files/object-key.ts';
import { type Command, Refusal } from './command.ts';
import { nameOf, printable } from './text.ts';

/** Deletes the file behind a link, for example after an abuse report. */
export const takeDown: Command = {
  arguments: ['<link>'],
  meaning: `Delete the file behind a link, and print its owner. The link stops working within a minute. On AWS the bytes are kept for ${DELETED_BYTES_KEPT_DAYS} days, and only an operator can restore or erase them`,
  async run(context, link = '') {
    const { stores, cdnUrls } = context;
    const key = objectKeyOfLink(link, cdnUrls);
    if (key === undefined)
      throw new Refusal(`This is not a link of this service: those begin with ${cdnUrls[0]}/uploads/.`);
    const published = await findPublished(stores, key);
    if (!published) throw new Refusal('There is no file behind this link (any more).');
    const { owner, file } = published;
    const account = await stores.accounts.get(owner.accountId);
    const what = file ? printable(file.name) : 'remains of a deleted file';
    const whose = account ? nameOf(account) : `an account that is gone (${owner.accountId})`;
    await context.confirm(`Delete "${what}" of ${whose}?`);
    await context.logs.audited('file_taken_down', { account_id: owner.accountId, file_id: owner.id }, () =>
      takeDownObject(stores, published, context.deadline),
    );
    return {
      json: {
        deleted: true,
        file: { id: owner.id, name: file?.name ?? null, object_key: key },
        account: { id: owner.accountId, email: account?.email ?? null },
      },
      text: `"${what}" is deleted. It belonged to ${whose}. On AWS its bytes are kept for ${DELETED_BYTES_KEPT_DAYS} days, as versions of ${key}.`,
    };
  },
};
