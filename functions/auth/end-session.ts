import { appUrl } from '../../shared/aws/parameters.ts';
import { sessionStore } from '../../shared/aws/session-store.ts';
import { removingSessionCookie } from '../../shared/http/cookies.ts';
import { ok } from '../../shared/http/response.ts';
import { endSessionOf } from '../../shared/sessions/account-sessions.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { auditRequest } from '../../shared/stack/route-stack.ts';
import { endSession as route } from './end-session.route.ts';

/**
 * DELETE /auth/sessions/{id}: 200 `{id, deleted}`; 404 when it is absent or not the caller's. The session that asks may end itself, which is
 * a logout.
 */
export const handler = apiHandler(route, async ({ event, caller: { accountId, sessionHash }, param }) => {
  const { isOwn, ...ended } = await endSessionOf(sessionStore, { accountId, sessionHash, id: param('id') });
  auditRequest(event, isOwn ? 'logout' : 'session_ended', { account_id: accountId, session: ended.id });
  return isOwn ? removingSessionCookie(ok(ended), await appUrl()) : ok(ended);
});
