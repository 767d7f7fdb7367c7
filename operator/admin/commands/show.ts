import { type Account, storageLimitOf } from '../../../shared/accounts/account.ts';
import { sentTodayBytes } from '../../../shared/accounts/allowance.ts';
import { listApiKeys } from '../../../shared/api-keys/api-key.ts';
import type { FileRow, Ticket } from '../../../shared/files/file.ts';
import { timeOfUuid } from '../../../shared/ids.ts';
import { type Session, sessionIdOf } from '../../../shared/sessions/session.ts';
import type { LogRow } from '../logs/log-row.ts';
import type { Command, CommandContext } from './command.ts';
import { findAccount } from './find-account.ts';
import { bytes, printable, rowLine, several, time } from './text.ts';

const UPLOADS_SHOWN = 10;
const REFUSALS_HOURS = 24;

/** Shows everything about an account that an operator may need for the next command. */
export const show: Command = {
  arguments: ['<account>'],
  meaning:
    'Show profile, usage, limit, keys, sessions, the latest uploads, and why requests of the account were refused in the last 24 hours',
  async run(context, name) {
    const account = await findAccount(context, name ?? '');
    const found = await lookUp(context, account);
    return { json: toJson(context, account, found), text: toText(context, account, found) };
  },
};

type Found = Awaited<ReturnType<typeof lookUp>>;

async function lookUp({ stores, logs }: CommandContext, { id }: Account) {
  const [{ items: keys }, sessions, uploads, refusals] = await Promise.all([
    listApiKeys(stores.keys, id),
    stores.sessions.live(id, Date.now()),
    stores.audit.recent(id, UPLOADS_SHOWN),
    // If the logs cannot be read, everything else is shown nevertheless.
    refusalsOf(logs, id).catch((error: Error) => ({ reasons: `cannot be read: ${error.message}`, isCut: false })),
  ]);
  return { keys, sessions: sessions.toSorted((one, other) => other.createdAt - one.createdAt), uploads, refusals };
}

interface Refusals {
  /** The reasons, the most frequent first; or why they cannot be read. */
  readonly reasons: readonly LogRow[] | string;
  /** True when there may have been more refusals than these. */
  readonly isCut: boolean;
}

/** Counts the refused requests of an account by their reasons. */
async function refusalsOf(logs: CommandContext['logs'], accountId: string): Promise<Refusals> {
  const having = { message: 'request', account_id: accountId };
  const { rows, isCut } = await logs.search({ of: 'service', containing: ['code'], having, hours: REFUSALS_HOURS });
  const refused = rows.filter(({ code }) => code !== undefined);
  const byReason = Map.groupBy(refused, ({ route, status, code, detail }) =>
    JSON.stringify([route, status, code, detail]),
  );
  const reasons = [...byReason.values()]
    .toSorted((one, other) => other.length - one.length)
    .map(([latest = {}, ...earlier]) => {
      const { route = '', status = '', code = '', detail, request_id = '', '@timestamp': last = '' } = latest;
      const count = { refusals: String(1 + earlier.length), last, request_id };
      return { route, status, code, ...(detail !== undefined && { detail }), ...count };
    });
  return { reasons, isCut };
}

function toJson({ defaultStorageLimitBytes }: CommandContext, account: Account, found: Found): object {
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    picture_url: account.pictureUrl ?? null,
    created_at: time(account.createdAt),
    suspended: account.isSuspended,
    storage_used_bytes: account.storageUsedBytes,
    storage_limit_bytes: storageLimitOf(account, defaultStorageLimitBytes),
    storage_limit_is_default: account.storageLimitBytes === undefined,
    file_count: account.fileCount,
    sent_today_bytes: sentTodayBytes(account, Date.now()),
    live_sessions: found.sessions.length,
    sessions: found.sessions.map(sessionJson),
    api_keys: found.keys,
    uploads: found.uploads.map(uploadJson),
    refusals: found.refusals.reasons,
    refusals_are_cut: found.refusals.isCut,
  };
}

/** The service writes the use of a session at most once an hour. So the last use may be up to an hour later than `last_used_at`. */
const sessionJson = ({ tokenHash, device, createdAt, refreshedAt, expiresAt }: Session) => ({
  id: sessionIdOf(tokenHash),
  device,
  created_at: time(createdAt),
  last_used_at: time(refreshedAt),
  expires_at: time(expiresAt),
});

function uploadJson(row: FileRow | Ticket) {
  return {
    id: row.id,
    // While the file of a settled ticket exists, the list has the file and not the ticket. So a settled ticket means a deleted file.
    state: row.state === 'settled' ? 'deleted' : row.state,
    via: 'via' in row ? row.via : 'ticket',
    begun_at: time(timeOfUuid(row.id)),
    size_bytes: 'sizeBytes' in row ? row.sizeBytes : null,
    name: 'name' in row ? row.name : null,
    ticket_ends_at: 'endsAt' in row ? time(row.endsAt) : null,
  };
}

function toText({ defaultStorageLimitBytes }: CommandContext, account: Account, found: Found): string {
  const limitBytes = storageLimitOf(account, defaultStorageLimitBytes);
  const { keys, sessions, uploads } = found;
  const { reasons, isCut } = found.refusals;
  return [
    `account   ${account.id}`,
    `e-mail    ${printable(account.email)}`,
    `name      ${printable(account.name)}`,
    `created   ${time(account.createdAt)}`,
    `state     ${account.isSuspended ? 'suspended' : 'open'}`,
    `storage   ${bytes(account.storageUsedBytes)} of ${bytes(limitBytes)} (${account.storageLimitBytes === undefined ? 'the default' : 'its own limit'})`,
    `files     ${account.fileCount.toLocaleString('en-US')}`,
    `sent      ${bytes(sentTodayBytes(account, Date.now()))} today (UTC)`,
    `sessions  ${several(sessions.length, 'live session')}`,
    ...sessions
      .map(sessionJson)
      .map(
        ({ id, device, created_at, last_used_at }) =>
          `  ${id}  created ${created_at}  last used ${last_used_at}  ${device}`,
      ),
    `keys      ${keys.length}`,
    ...keys.map(
      ({ key_prefix, created_at, last_used_at, name }) =>
        `  ${key_prefix}…  created ${created_at}  last used ${last_used_at ?? 'never'}  ${printable(name)}`,
    ),
    `uploads   the latest ${uploads.length}`,
    ...uploads.map(uploadJson).map(uploadLine),
    `refused   in the last ${REFUSALS_HOURS} hours${isCut ? ' (only the latest are counted)' : ''}: ${typeof reasons === 'string' ? reasons : reasons.length || 'nothing'}`,
    ...(typeof reasons === 'string' ? [] : reasons.map((row) => `  ${rowLine(row).trim()}`)),
  ].join('\n');
}

function uploadLine({
  id,
  state,
  via,
  begun_at,
  size_bytes,
  name,
  ticket_ends_at,
}: ReturnType<typeof uploadJson>): string {
  const size = size_bytes === null ? '' : `  ${bytes(size_bytes)}`;
  const ends = state === 'pending' && ticket_ends_at !== null ? `  ticket ends ${ticket_ends_at}` : '';
  return `  ${begun_at}  ${state} via ${via}${size}  ${id}${ends}  ${printable(name ?? '')}`.trimEnd();
}
