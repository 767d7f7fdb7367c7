import { isIP } from 'node:net';
import { limitOf, type SavedQueryName } from '../../infra/settings/log-queries.ts';
import { isUuid } from '../../shared/ids.ts';
import { type Command, type CommandContext, Refusal } from './command.ts';
import { findAccount } from './find-account.ts';
import { rowLines } from './text.ts';

/**
 * The beginning of an API key, which its owner sees in the list of keys. If the operator gives a whole key, the command uses only the
 * beginning.
 */
const KEY_PREFIX = /^svc_(?:live|test)_\w{3}/;

/**
 * Finds the log lines of requests by something that a person can name in a complaint: an e-mail address, a key prefix, an id or
 * an IP address.
 */
export const requests: Command = {
  arguments: ['<account | key prefix | request id | file id | address>'],
  meaning: 'Show requests of the last 24 hours, how they were answered, and why',
  takesHours: true,
  async run(context, what = '') {
    const { logs, hours = 24, until } = context;
    const found = await Promise.all(
      (await queriesFor(context, what)).map(async ([name, value]) => {
        const rows = await logs.run(name, value, hours, until);
        return { rows, isCut: rows.length === limitOf(name) && rows.length > 1 };
      }),
    );
    const rows = found.flatMap((one) => one.rows);
    const isCut = found.some((one) => one.isCut);
    return {
      json: { requests: rows, is_cut: isCut },
      text: rowLines(rows, { none: 'No request was found.', isCut }),
    };
  },
};

/**
 * Chooses the query by the version of the UUID: an account has version 5, a file, ticket or key has version 7, and a request has
 * version 4.
 */
function queryForId(id: string): SavedQueryName {
  const version = id.charAt(14);
  if (version === '5') return 'by-account';
  return version === '7' ? 'by-resource' : 'by-request-id';
}

async function queriesFor(context: CommandContext, what: string): Promise<[SavedQueryName, string][]> {
  const [prefix] = KEY_PREFIX.exec(what) ?? [];
  if (prefix !== undefined) return [['by-key-prefix', prefix]];
  if (what.includes('@')) return [['by-account', (await findAccount(context, what)).id]];
  if (isUuid(what)) return [[queryForId(what), what]];
  if (isIP(what) !== 0) {
    return [
      ['by-client-address', what],
      ['edge-by-client-address', what],
    ];
  }
  // CloudFront's request ids are longer than all other ids.
  if (/^[\w=-]{40,128}$/.test(what)) return [['edge-by-request-id', what]];
  throw new Refusal(`"${what}" is not an account, key prefix, request id, file id or address.`);
}
