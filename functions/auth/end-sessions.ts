import { appUrl } from '../../shared/aws/parameters.ts';
import { sessionStore } from '../../shared/aws/session-store.ts';
import { loggedOut } from '../../shared/http/cookies.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { auditRequest } from '../../shared/stack/route-stack.ts';
import { endSessions as route } from './end-sessions.route.ts';

/** DELETE /auth/sessions: 200; every session of the account has ended on the server, including that of this request. */
export const handler = apiHandler(route, async ({ event, caller: { accountId, sessionHash } }) => {
  const sessions = await sessionStore.removeAll(accountId, { last: sessionHash });
  auditRequest(event, 'sessions_ended', { account_id: accountId, sessions });
  return loggedOut(await appUrl());
});
