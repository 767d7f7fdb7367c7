import { ApiError } from '../errors.ts';
import { randomToken } from '../ids.ts';
import { expiryOf, hashToken, SESSION_TOKEN_BITS, type SessionStore } from './session.ts';

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
  const now = Math.floor(clock() / 1_000);
  const times = { createdAt: now, refreshedAt: now };
  const outcome = await sessions.add({ tokenHash, accountId, ...times, expiresAt: expiryOf(times) });
  if (outcome === 'refused') throw new ApiError('unauthorized', { detail: 'the account is suspended or gone' });
  return token;
}
