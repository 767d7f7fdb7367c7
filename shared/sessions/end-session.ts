import { hashToken, type SessionStore } from './session.ts';

/** Logs out whoever has this token: from the next request on it is refused. Harmless for any other text. */
export async function endSession(sessions: SessionStore, token: string): Promise<void> {
  const tokenHash = hashToken(token);
  if (tokenHash) await sessions.remove(tokenHash);
}
