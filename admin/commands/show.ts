import { storageLimitOf } from '../../shared/accounts/account.ts';
import { sentTodayBytes } from '../../shared/accounts/allowance.ts';
import { listApiKeys } from '../../shared/api-keys/api-key.ts';
import type { Command } from './command.ts';
import { findAccount } from './find-account.ts';
import { bytes, printable, several, time } from './text.ts';

/** Shows everything about an account that an operator may need for the next command. */
export const show: Command = {
  arguments: ['<account>'],
  meaning: 'Show profile, usage, limit, keys and sessions',
  async run(context, name) {
    const { stores, defaultStorageLimitBytes } = context;
    const account = await findAccount(context, name ?? '');
    const [{ items: keys }, liveSessions] = await Promise.all([
      listApiKeys(stores.keys, account.id),
      stores.sessions.countLive(account.id, Date.now()),
    ]);
    const limitBytes = storageLimitOf(account, defaultStorageLimitBytes);
    const isOwnLimit = account.storageLimitBytes !== undefined;
    const sentBytes = sentTodayBytes(account, Date.now());
    const state = account.isSuspended ? 'suspended' : 'open';
    const json = {
      id: account.id,
      email: account.email,
      name: account.name,
      picture_url: account.pictureUrl ?? null,
      created_at: time(account.createdAt),
      suspended: account.isSuspended,
      storage_used_bytes: account.storageUsedBytes,
      storage_limit_bytes: limitBytes,
      storage_limit_is_default: !isOwnLimit,
      file_count: account.fileCount,
      sent_today_bytes: sentBytes,
      live_sessions: liveSessions,
      api_keys: keys,
    };
    const text = [
      `account   ${account.id}`,
      `e-mail    ${printable(account.email)}`,
      `name      ${printable(account.name)}`,
      `created   ${time(account.createdAt)}`,
      `state     ${state}`,
      `storage   ${bytes(account.storageUsedBytes)} of ${bytes(limitBytes)} (${isOwnLimit ? 'its own limit' : 'the default'})`,
      `files     ${account.fileCount.toLocaleString('en-US')}`,
      `sent      ${bytes(sentBytes)} today (UTC)`,
      `sessions  ${several(liveSessions, 'live session')}`,
      `keys      ${keys.length}`,
      ...keys.map(
        ({ key_prefix, created_at, last_used_at, name }) =>
          `  ${key_prefix}…  created ${created_at}  last used ${last_used_at ?? 'never'}  ${printable(name)}`,
      ),
    ].join('\n');
    return { json, text };
  },
};
