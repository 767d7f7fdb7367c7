import { createHash } from 'node:crypto';
import { SESSION_IDLE_SECONDS, SESSION_MAX_SECONDS } from '../limits.ts';

/** One browser that is logged in. Times are epoch seconds, the unit of DynamoDB's TTL. */
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
export function expiryOf({ createdAt, refreshedAt }: Pick<Session, 'createdAt' | 'refreshedAt'>): number {
  return Math.min(refreshedAt + SESSION_IDLE_SECONDS, createdAt + SESSION_MAX_SECONDS);
}
