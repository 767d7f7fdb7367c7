import { sessionStore } from '../../shared/aws/session-store.ts';
import { ok } from '../../shared/http/response.ts';
import { listSessions } from '../../shared/sessions/account-sessions.ts';
import { apiHandler } from '../../shared/stack/api-handler.ts';
import { listSessions as route } from './list-sessions.route.ts';

/** GET /auth/sessions: 200 `{items}`, the newest login first. */
export const handler = apiHandler(route, async ({ caller: { accountId, sessionHash } }) =>
  ok(await listSessions(sessionStore, { accountId, sessionHash })),
);
