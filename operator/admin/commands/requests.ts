import { isIP } from 'node:net';
import { isUuid } from '../../../shared/ids.ts';
import type { Search } from '../logs/stage-logs.ts';
import { type Command, type CommandContext, Refusal } from './command.ts';
import { findAccount } from './find-account.ts';
import { rowLines } from './text.ts';

/**
 * The beginning of an API key, which its owner sees in the list of keys. If the operator gives a whole key, the command uses only the
 * beginning.
 */
const KEY_PREFIX = /^svc_(?:live|test)_\w{3}/;

/** A request id of CloudFront, which is longer than all other ids, and may begin with a dash. */
export const isEdgeRequestId = (text: string) => /^[\w=-]{40,128}$/.test(text);

const ROWS_MAX = 200;

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
    const wanted = await wantedFor(context, what);
    const found = await Promise.all(wanted.map((one) => logs.search({ ...one, most: ROWS_MAX, hours, until })));
    const newestFirst = found.flatMap((one) => one.rows);
    // The lines of one request are read in the order in which they were written.
    const rows = isRequestId(what) ? newestFirst.toReversed() : newestFirst;
    const isCut = found.some((one) => one.isCut);
    return {
      json: { requests: rows, is_cut: isCut },
      text: rowLines(rows, { none: 'No request was found.', isCut }),
    };
  },
};

/** The version of a UUID: an account has version 5, a file, ticket or key has version 7, and a request has version 4. */
const versionOf = (id: string) => id.charAt(14);
const isRequestId = (what: string) => isUuid(what) && versionOf(what) === '4';

async function wantedFor(
  context: CommandContext,
  what: string,
): Promise<Pick<Search, 'of' | 'containing' | 'having'>[]> {
  const [prefix] = KEY_PREFIX.exec(what) ?? [];
  if (prefix !== undefined) return [{ of: 'service', having: { key_prefix: prefix } }];
  if (what.includes('@')) return [{ of: 'service', having: { account_id: (await findAccount(context, what)).id } }];
  if (isUuid(what)) {
    // The other ids are random. So a line that contains one, even in the text of an error, is about the file, key or request.
    return [
      { of: 'service', ...(versionOf(what) === '5' ? { having: { account_id: what } } : { containing: [what] }) },
    ];
  }
  if (isIP(what) !== 0) {
    return [
      { of: 'service', having: { client_address: what } },
      { of: 'edge', having: { 'c-ip': what } },
    ];
  }
  if (isEdgeRequestId(what)) return [{ of: 'edge', having: { 'x-edge-request-id': what } }];
  throw new Refusal(`"${what}" is not an account, key prefix, request id, file id or address.`);
}
