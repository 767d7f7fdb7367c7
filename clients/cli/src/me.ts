import type { FileHosting, RetryOptions } from '../../typescript/src/index.ts';
import type { Account } from './account.ts';

/** How much of a key is shown, as in the dashboard's list of keys. */
const KEY_PREFIX_CHARS = 12;

/**
 * Prints which account and key are used. The API tells only a session, not a key, how much storage is used. So this command does not print
 * the used storage.
 */
export async function me(hosting: FileHosting, { url, key, keyFrom }: Account, calls: RetryOptions): Promise<void> {
  const { total } = await hosting.list({ ...calls, limit: 1 });
  const lines = [
    `Service    ${url}`,
    `Dashboard  ${url}/dashboard`,
    `API key    ${key.slice(0, KEY_PREFIX_CHARS)}… from ${keyFrom}`,
    `Files      ${total}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
