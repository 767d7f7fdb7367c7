import { appUrl } from '../shared/aws/parameters.ts';
import { sessionStore } from '../shared/aws/session-store.ts';
import { loggedOut } from '../shared/http/cookies.ts';
import { apiHandler } from '../shared/stack/api-handler.ts';

/** POST /auth/logout: 200; the session has ended on the server, and the browser removes its cookie. */
export const handler = apiHandler('logout', async ({ caller }) => {
  if (caller.sessionHash !== undefined) await sessionStore.remove(caller.sessionHash);
  return loggedOut(await appUrl());
});
