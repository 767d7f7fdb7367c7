import type { Route } from '../../shared/route.ts';

export const logout = {
  name: 'logout',
  method: 'POST',
  path: '/api/v1/auth/logout',
  access: 'session',
  rateClass: 'requests',
  purpose: 'End the session',
  entry: 'functions/auth/logout.ts',
  isAudited: true,
  needs: { tables: [{ table: 'sessions', actions: ['DeleteItem'] }] },
  operation: {
    tag: 'Login',
    description: 'The session is refused from the next request on. The other sessions of the account go on.',
    successes: [{ status: 200, description: 'The session has ended.', body: 'LoggedOut', headers: ['Set-Cookie'] }],
    sample: { client: 'await hosting.logout();' },
  },
} as const satisfies Route;
