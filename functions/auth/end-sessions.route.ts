import type { Route } from '../../shared/route.ts';

export const endSessions = {
  name: 'endSessions',
  method: 'DELETE',
  path: '/api/v1/auth/sessions',
  access: 'session',
  rateClass: 'requests',
  purpose: 'End every session of the account, including the one that asks',
  entry: 'functions/auth/end-sessions.ts',
  isAudited: true,
  needs: { tables: [{ table: 'sessions', actions: ['DeleteItem'] }] },
  operation: {
    tag: 'Login',
    description: 'For a lost device: every browser must log in again. API keys stay valid.',
    successes: [{ status: 200, description: 'All sessions have ended.', body: 'LoggedOut', headers: ['Set-Cookie'] }],
    sample: { client: 'await hosting.endSessions();' },
  },
} as const satisfies Route;
