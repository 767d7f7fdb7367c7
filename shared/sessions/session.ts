import { createHash } from 'node:crypto';
import { SESSION_IDLE_MS, SESSION_MAX_MS } from '../contract/limits.ts';
import { ApiError } from '../errors.ts';
import { randomToken, uuidv8 } from '../ids.ts';
import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';
import { deviceOf } from './device.ts';

/** One browser that is logged in. Times are epoch milliseconds; they are stored in whole seconds. */
export interface Session {
  /** SHA-256 of the token, in hexadecimal. Only the browser has the token itself. */
  readonly tokenHash: string;
  readonly accountId: string;
  /** The name of the browser and its system, made of our own words. */
  readonly device: string;
  readonly createdAt: number;
  /** The last use that was noted; the idle time counts from it. */
  readonly refreshedAt: number;
  /** The session is not valid from this time on, even if its row still exists. */
  readonly expiresAt: number;
}

/** The sessions, as requests use them. Reads are strongly consistent, so that an ended session is refused from the next request on. */
export interface SessionCredentials {
  /** Reads a session, even one that has expired; undefined when there is none. */
  find(tokenHash: string): Promise<Session | undefined>;
  /** Restarts the idle time, if the session still exists. So a late call does not bring an ended session back. */
  refresh(session: Pick<Session, 'tokenHash' | 'refreshedAt' | 'expiresAt'>): Promise<void>;
}

export interface SessionStore extends SessionCredentials {
  /**
   * Stores a new session, unless its account is suspended or gone. An account has at most {@link SESSIONS_PER_ACCOUNT_MAX} sessions: a
   * further one ends the oldest. @throws ApiError `service_unavailable` when other writers of the account are at work for five seconds.
   */
  add(session: Session): Promise<'added' | 'refused'>;
  /** Ends a session. @returns false when there was none. */
  remove(tokenHash: string): Promise<boolean>;
  /**
   * Ends all sessions that an account had before this call. Safe at any time; may be repeated.
   * @param options.last  the hash of the session that is ended after all others. If this call fails, that session may still be valid, and
   *   its browser can try again.
   * @returns how many sessions there were.
   */
  removeAll(accountId: string, options?: { readonly last: string | undefined }): Promise<number>;
  /** The sessions of an account that have not ended. @param now  epoch milliseconds. */
  live(accountId: string, now: number): Promise<Session[]>;
}

/** A token has 256 random bits: it cannot be guessed, so a plain hash is enough. */
const SESSION_TOKEN_BITS = 256;
const TOKEN_FORMAT = /^[0-9A-Za-z]{43}$/;

/**
 * Logs a browser in.
 * @returns the token for its cookie, which is stored nowhere else.
 * @throws ApiError `unauthorized` when the account has been suspended or deleted.
 */
export async function startSession(
  sessions: SessionStore,
  { accountId, userAgent }: { readonly accountId: string; readonly userAgent: string },
  clock: () => number = Date.now,
): Promise<string> {
  const token = randomToken(SESSION_TOKEN_BITS);
  const tokenHash = hashToken(token) ?? '';
  const now = clock();
  const times = { createdAt: now, refreshedAt: now };
  const session = { tokenHash, accountId, device: deviceOf(userAgent), ...times, expiresAt: expiryOf(times) };
  const outcome = await sessions.add(session);
  if (outcome === 'refused') throw new ApiError('unauthorized', { detail: 'the account is suspended or gone' });
  return token;
}

/** The use of a session is noted at most this often. So a busy dashboard costs one write an hour. */
const REFRESHED_EVERY_MS = 3_600_000;

/**
 * Finds the session of a token; undefined when there is none, or the session has ended. This costs one read, and at most once an hour a
 * write that notes the use. So the idle time may count from a request that was up to an hour before the last request. A session may end an
 * hour early, but never late. In its last days a use cannot prolong the session, but is noted for the owner, who sees it.
 */
export async function findSession(
  sessions: SessionCredentials,
  token: string,
  clock: () => number = Date.now,
): Promise<Session | undefined> {
  const tokenHash = hashToken(token);
  const session = tokenHash && (await sessions.find(tokenHash));
  const now = clock();
  // The row may exist although the session has ended: DynamoDB may delete expired rows days late.
  if (!session || session.expiresAt <= now) return undefined;
  if (now - session.refreshedAt >= REFRESHED_EVERY_MS) {
    const expiresAt = expiryOf({ createdAt: session.createdAt, refreshedAt: now });
    const refreshed = { tokenHash: session.tokenHash, refreshedAt: now, expiresAt };
    // If this fails, the session stays valid.
    await briefly(() => sessions.refresh(refreshed)).catch((error) => {
      log('warn', 'session not refreshed; the next request does it', describeError(error));
    });
  }
  return session;
}

/**
 * Logs a browser out: its token is refused from the next request on. Does nothing for a text that is not a token.
 * @returns the hash of the token; undefined when there was no such session.
 */
export async function endSession(sessions: SessionStore, token: string): Promise<string | undefined> {
  const tokenHash = hashToken(token);
  return tokenHash !== undefined && (await sessions.remove(tokenHash)) ? tokenHash : undefined;
}

/** The hash under which a token's session is stored; undefined for a text that cannot be a token. */
export function hashToken(token: string): string | undefined {
  return TOKEN_FORMAT.test(token) ? createHash('sha256').update(token).digest('hex') : undefined;
}

/**
 * The id of a session for its owner and in the audit trail: a part of the hash of its token. It cannot be used as a cookie, and nobody can
 * find the token by it.
 */
export const sessionIdOf = (tokenHash: string): string => uuidv8(tokenHash);

/** A session ends when it was idle for {@link SESSION_IDLE_MS}, and at the latest {@link SESSION_MAX_MS} after the login. */
function expiryOf({ createdAt, refreshedAt }: Pick<Session, 'createdAt' | 'refreshedAt'>): number {
  return Math.min(refreshedAt + SESSION_IDLE_MS, createdAt + SESSION_MAX_MS);
}
