import { CONFIGURABLE_LIMITS } from '../../../shared/contract/limits.ts';
import { type Command, Refusal, UsageError } from './command.ts';
import { findAccount } from './find-account.ts';
import { bytes, nameOf } from './text.ts';

/** Sets the storage limit of one account. */
export const setLimit: Command = {
  arguments: ['<account>', '<bytes | default>'],
  meaning: 'Set how many bytes the account may store; nothing that it has is deleted',
  async run(context, name, value) {
    const ownBytes = parseBytes(value ?? '');
    const account = await findAccount(context, name ?? '');
    const limitBytes = ownBytes ?? context.defaultStorageLimitBytes;
    const change = { account_id: account.id, limit_bytes: limitBytes, is_default: ownBytes === undefined };
    await context.logs.audited('storage_limit_changed', change, async () => {
      if (!(await context.stores.administration.setStorageLimit(account.id, ownBytes))) {
        throw new Refusal('The account was deleted at the same time.');
      }
    });
    return {
      json: {
        id: account.id,
        storage_limit_bytes: limitBytes,
        storage_limit_is_default: ownBytes === undefined,
        storage_used_bytes: account.storageUsedBytes,
      },
      text: `${nameOf(account)} may store ${bytes(limitBytes)} and uses ${bytes(account.storageUsedBytes)}.`,
    };
  },
};

function parseBytes(text: string): number | undefined {
  if (text === 'default') return undefined;
  const { min, max } = CONFIGURABLE_LIMITS.STORAGE_LIMIT_BYTES;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`A limit is a whole number of bytes from ${min} to ${max}, or "default", not "${text}".`);
}
