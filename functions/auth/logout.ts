import { appUrl } from '../../shared/aws/parameters.ts';
import { sessionStore } from '../../shared/aws/session-store.ts';
import { loggedOut } from '../../shared/http/cookies.ts';
import { sessionIdOf } from '../../shared/sessions/session.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { auditRequest } from '../../shared/stack/route-stack.ts';
import { logout as route } from './logout.route.ts';

/** POST /auth/logout: 200; the session has ended on the server, and the browser removes its cookie. */
export const handler = apiHandler(route, async ({ event, caller: { accountId, sessionHash } }) => {
  if (sessionHash !== undefined) {
    await sessionStore.remove(sessionHash);
    auditRequest(event, 'logout', { account_id: accountId, session: sessionIdOf(sessionHash) });
  }
  return loggedOut(await appUrl());
});
