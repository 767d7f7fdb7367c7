import type { Route } from '../../shared/route.ts';

export const listSessions = {
  name: 'listSessions',
  method: 'GET',
  path: '/api/v1/auth/sessions',
  access: 'session',
  rateClass: 'requests',
  purpose: 'List the sessions of the account',
  entry: 'functions/auth/list-sessions.ts',
  needs: { tables: [{ table: 'sessions', actions: ['GetItem', 'BatchGetItem'] }] },
  operation: {
    tag: 'Login',
    description:
      'The browsers that are logged in, the newest login first. Only a session may ask: a leaked key must not tell where its owner is logged in.',
    successes: [{ status: 200, description: 'The sessions.', body: 'Sessions' }],
    sample: { client: 'console.log(await hosting.sessions.list());' },
  },
} as const satisfies Route;
