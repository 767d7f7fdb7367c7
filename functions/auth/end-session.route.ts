import { idParameter } from '../../shared/contract/operation.ts';
import type { Route } from '../../shared/route.ts';

export const endSession = {
  name: 'endSession',
  method: 'DELETE',
  path: '/api/v1/auth/sessions/{id}',
  access: 'session',
  rateClass: 'requests',
  purpose: 'End one session of the account',
  entry: 'functions/auth/end-session.ts',
  isAudited: true,
  needs: { tables: [{ table: 'sessions', actions: ['GetItem', 'BatchGetItem', 'DeleteItem'] }] },
  operation: {
    tag: 'Login',
    description:
      'The session is refused from the next request on. A session that ends itself is logged out, and its cookie is removed.',
    parameters: [idParameter('the session')],
    successes: [{ status: 200, description: 'The session has ended.', body: 'Deletion', headers: ['Set-Cookie'] }],
    errors: ['not_found'],
    sample: { client: "await hosting.sessions.end(prompt('The id of the session?') ?? '');" },
  },
} as const satisfies Route;
