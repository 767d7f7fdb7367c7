import type { Route } from '../../shared/route.ts';

export const startLogin = {
  name: 'startLogin',
  method: 'GET',
  path: '/api/v1/auth/google',
  access: 'public',
  rateClass: 'login-starts',
  purpose: 'Start the Google login in a browser',
  entry: 'functions/auth/start-login.ts',
  needs: { values: ['appUrl', 'loginProvider'] },
  operation: {
    tag: 'Login',
    description:
      'Open it in a browser. A link on another site leads to the login page, where the person continues. Errors take a browser to the login ' +
      'page, with the code in `?error=`; other clients get JSON.',
    parameters: [
      {
        name: 'prompt',
        in: 'query',
        description: '`select_account`: Google asks which account to use. Other values are ignored.',
        schema: { type: 'string' },
      },
    ],
    successes: [
      {
        status: 302,
        description: 'The browser goes on at Google, or at the login page.',
        headers: ['Location', 'Set-Cookie'],
      },
    ],
    sample: 'none',
  },
} as const satisfies Route;
