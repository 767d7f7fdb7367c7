import { createHash } from 'node:crypto';
import { ApiError } from '../errors.ts';
import { randomToken } from '../ids.ts';
import { SESSION_IDLE_MS, SESSION_MAX_MS } from '../limits.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/** One browser that is logged in. A session that was read has whole seconds. */
export interface Session {
  /** SHA-256 of the token, in hexadecimal; the token itself only the browser has. */
  readonly tokenHash: string;
  readonly accountId: string;
  readonly createdAt: number;
  /** When its idle time last began anew. */
  readonly refreshedAt: number;
  /** From then on it is no session, whether its row is still there or not. */
  readonly expiresAt: number;
}

/** Where sessions are kept. Reads are strongly consistent, so that a logout holds from the next request. */
export interface SessionStore {
  /**
   * Keeps a new session, unless its account is suspended or gone. An account has
   * {@link SESSIONS_PER_ACCOUNT_MAX} at most: the oldest ends when there is one more.
   * @throws ApiError `service_unavailable` when other logins to the account keep it waiting for five seconds.
   */
  add(session: Session): Promise<'added' | 'refused'>;
  /** The row, also when it has expired; undefined when there is none. */
  find(tokenHash: string): Promise<Session | undefined>;
  /** Begins the idle time anew, if the session is still there: a late refresh does not bring it back. */
  refresh(session: Pick<Session, 'tokenHash' | 'refreshedAt' | 'expiresAt'>): Promise<void>;
  /** Harmless when it is gone already. */
  remove(tokenHash: string): Promise<void>;
  /**
   * Ends every session of an account that was made before this call, by strong reads. Harmless at any time, and twice.
   * @param options.last  is ended after all others, so that its owner can ask again when this fails on the way.
   * @returns how many there were.
   */
  removeAll(accountId: string, options?: { readonly last: string | undefined }): Promise<number>;
  /** How many sessions of an account have not ended. @param now  epoch milliseconds. */
  countLive(accountId: string, now: number): Promise<number>;
}

/** A token has 256 random bits: it cannot be guessed, so a plain hash is enough. */
export const SESSION_TOKEN_BITS = 256;
const TOKEN_FORMAT = /^[0-9A-Za-z]{43}$/;

/** The hash a token is kept under; undefined for what cannot be a token. */
export function hashToken(token: string): string | undefined {
  return TOKEN_FORMAT.test(token) ? createHash('sha256').update(token).digest('hex') : undefined;
}

/** A session ends when it was idle too long, and in any case some time after login. */
function expiryOf({ createdAt, refreshedAt }: Pick<Session, 'createdAt' | 'refreshedAt'>): number {
  return Math.min(refreshedAt + SESSION_IDLE_MS, createdAt + SESSION_MAX_MS);
}

/** Logs out whoever has this token: from the next request on it is refused. Harmless for any other text. */
export async function endSession(sessions: SessionStore, token: string): Promise<void> {
  const tokenHash = hashToken(token);
  if (tokenHash) await sessions.remove(tokenHash);
}

/** The idle time begins anew at most this often, so that a busy dashboard costs one write an hour. */
const REFRESHED_EVERY_MS = 3_600_000;

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
  const now = clock();
  // By the time, not by the row: DynamoDB may delete expired rows days late.
  if (!session || session.expiresAt <= now) return undefined;
  const expiresAt = expiryOf({ createdAt: session.createdAt, refreshedAt: now });
  if (now - session.refreshedAt >= REFRESHED_EVERY_MS && expiresAt > session.expiresAt) {
    const refreshed = { tokenHash: session.tokenHash, refreshedAt: now, expiresAt };
    await briefly(() => sessions.refresh(refreshed)).catch(leaveItToTheNext);
  }
  return session;
}

/** The session is good all the same. */
function leaveItToTheNext(error: unknown): void {
  log('warn', 'session not refreshed; the next request does it', describeError(error));
}

/**
 * Logs a browser in.
 * @returns the token for its cookie, which is kept nowhere else.
 * @throws ApiError `unauthorized` when the account has been suspended, or deleted, since somebody looked.
 */
export async function startSession(
  sessions: SessionStore,
  accountId: string,
  clock: () => number = Date.now,
): Promise<string> {
  const token = randomToken(SESSION_TOKEN_BITS);
  const tokenHash = hashToken(token) ?? '';
  const now = clock();
  const times = { createdAt: now, refreshedAt: now };
  const outcome = await sessions.add({ tokenHash, accountId, ...times, expiresAt: expiryOf(times) });
  if (outcome === 'refused') throw new ApiError('unauthorized', { detail: 'the account is suspended or gone' });
  return token;
}
