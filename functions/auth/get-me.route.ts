import type { Route } from '../../shared/route.ts';

export const getMe = {
  name: 'getMe',
  method: 'GET',
  path: '/api/v1/auth/me',
  access: 'session',
  rateClass: 'requests',
  purpose: 'Profile and storage of the logged-in user',
  entry: 'functions/auth/get-me.ts',
  needs: { tables: [{ table: 'accounts', actions: ['GetItem'] }], limits: ['STORAGE_LIMIT_BYTES'] },
  operation: {
    tag: 'Login',
    description: 'Who is logged in, how much storage the account has, and how much of it is used.',
    successes: [{ status: 200, description: 'The profile.', body: 'Profile' }],
    sample: { client: 'console.log(await hosting.me());' },
  },
} as const satisfies Route;
