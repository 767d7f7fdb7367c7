import { LOGIN_ERRORS } from '../../shared/contract/login-errors.ts';
import type { Route } from '../../shared/route.ts';

const codes = Object.keys(LOGIN_ERRORS).map((code) => `\`${code}\``);

export const finishLogin = {
  name: 'finishLogin',
  method: 'GET',
  path: '/api/v1/auth/google/callback',
  access: 'public',
  rateClass: 'login-callbacks',
  purpose: 'Finish the Google login; Google redirects the browser to it',
  entry: 'functions/auth/finish-login.ts',
  isAudited: true,
  needs: {
    tables: [
      { table: 'accounts', actions: ['UpdateItem', 'ConditionCheckItem'] },
      // It reads and writes the account's list of sessions, and ends the browser's previous session.
      { table: 'sessions', actions: ['GetItem', 'BatchGetItem', 'PutItem', 'DeleteItem'] },
    ],
    secrets: ['loginClientSecret'],
    values: ['appUrl', 'loginProvider'],
    optional: ['ALLOWED_EMAIL_DOMAINS', 'ALLOWED_EMAILS'],
  },
  operation: {
    tag: 'Login',
    description:
      'Google sends the browser here. The answer redirects the browser to the dashboard with a session, or to the login page with ' +
      `\`?error=\` and one of the codes ${codes.join(', ')}.`,
    parameters: ['code', 'state', 'error'].map((name) => ({
      name,
      in: 'query',
      description: 'As Google sends it (RFC 6749, section 4.1.2).',
      schema: { type: 'string' },
    })),
    successes: [
      {
        status: 302,
        description: 'The browser goes on at the dashboard or the login page.',
        headers: ['Location', 'Set-Cookie'],
      },
    ],
    sample: 'none',
  },
} as const satisfies Route;
