import type { Deletion, ListOfSessions } from '../contract/answers.ts';
import { ApiError } from '../errors.ts';
import { type Session, type SessionStore, sessionIdOf } from './session.ts';

/** The session of an account that asks. */
interface Asking {
  readonly accountId: string;
  readonly sessionHash: string | undefined;
}

/** The sessions of an account that have not ended, the newest first. */
export async function listSessions(
  sessions: Pick<SessionStore, 'live'>,
  { accountId, sessionHash }: Asking,
  clock: () => number = Date.now,
): Promise<ListOfSessions> {
  const live = await sessions.live(accountId, clock());
  const newestFirst = live.toSorted((one, other) => other.createdAt - one.createdAt);
  return {
    items: newestFirst.map((session) => ({ ...toAnswer(session), current: session.tokenHash === sessionHash })),
  };
}

const toAnswer = ({ tokenHash, device, createdAt, refreshedAt }: Session) => ({
  id: sessionIdOf(tokenHash),
  device,
  created_at: new Date(createdAt).toISOString(),
  last_used_at: new Date(refreshedAt).toISOString(),
});

export interface EndedSession extends Deletion {
  /** True when the session has ended itself. */
  readonly isOwn: boolean;
}

/**
 * Ends one session of an account: its cookie is refused from the next request on. Two simultaneous calls for one session both succeed.
 *
 * The session is looked for in the list of the account's sessions, so the id of another account's session is as unknown as any other.
 * @throws ApiError `not_found` when the account has no such session, or it has ended.
 */
export async function endSessionOf(
  sessions: Pick<SessionStore, 'live' | 'remove'>,
  { accountId, sessionHash, id }: Asking & { readonly id: string },
  clock: () => number = Date.now,
): Promise<EndedSession> {
  const session = (await sessions.live(accountId, clock())).find(({ tokenHash }) => sessionIdOf(tokenHash) === id);
  if (!session) throw new ApiError('not_found', { detail: 'the account has no such session' });
  // Whether a row was removed does not matter: a lost answer is repeated, and then another attempt has removed the row.
  await sessions.remove(session.tokenHash);
  return { id, deleted: true, isOwn: session.tokenHash === sessionHash };
}
