import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { expiryOf, hashToken, type Session, type SessionStore } from './session.ts';

/** The idle time begins anew at most this often, so that a busy dashboard costs one write an hour. */
const REFRESHED_EVERY_SECONDS = 3_600;

/**
 * The session of a token; undefined when there is none, or it has ended. One read, and once an hour a write. (So the
 * idle time counts from a request up to an hour before the last one: a session may end that much early, never late.)
 */
export async function findSession(
  sessions: SessionStore,
  token: string,
  clock: () => number = Date.now,
): Promise<Session | undefined> {
  const tokenHash = hashToken(token);
  const session = tokenHash && (await sessions.find(tokenHash));
  const now = Math.floor(clock() / 1_000);
  // By the time, not by the row: DynamoDB may delete expired rows days late.
  if (!session || session.expiresAt <= now) return undefined;
  const expiresAt = expiryOf({ createdAt: session.createdAt, refreshedAt: now });
  if (now - session.refreshedAt >= REFRESHED_EVERY_SECONDS && expiresAt > session.expiresAt) {
    const refreshed = { tokenHash: session.tokenHash, refreshedAt: now, expiresAt };
    await briefly(() => sessions.refresh(refreshed)).catch(leaveItToTheNext);
  }
  return session;
}

/** The session is good all the same. */
function leaveItToTheNext(error: unknown): void {
  log('warn', 'session not refreshed; the next request does it', describeError(error));
}
