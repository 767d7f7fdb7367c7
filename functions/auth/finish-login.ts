import { accountStore } from '../../shared/aws/account-store.ts';
import { appUrl, loginProvider } from '../../shared/aws/parameters.ts';
import { loginClientSecret } from '../../shared/aws/secrets.ts';
import { sessionStore } from '../../shared/aws/session-store.ts';
import { list } from '../../shared/env.ts';
import { parseCookies } from '../../shared/http/cookies.ts';
import { header, headerValues } from '../../shared/http/request.ts';
import { redirect } from '../../shared/http/response.ts';
import { describeError, log } from '../../shared/log.ts';
import { finishLogin } from '../../shared/login/finish-login.ts';
import { measure } from '../../shared/metrics.ts';
import { loginPage } from '../../shared/stack/login-page.ts';
import { rateLimit } from '../../shared/stack/rate-limit.ts';
import { auditRequest, routeStack } from '../../shared/stack/route-stack.ts';
import { viewerSubject } from '../../shared/stack/viewer.ts';
import { finishLogin as route } from './finish-login.route.ts';

const allowed = { domains: list('ALLOWED_EMAIL_DOMAINS'), emails: list('ALLOWED_EMAILS') };

const checks = [loginPage(), rateLimit(route.rateClass, viewerSubject)];

/**
 * GET /auth/google/callback: 302 to the dashboard with a session, or to its login page with `?error=`. A program gets the errors of
 * the checks, such as 429, and our own failures as JSON.
 */
export const handler = routeStack(route, checks, async ({ event }) => {
  const [provider, clientSecret, url] = await Promise.all([loginProvider(), loginClientSecret(), appUrl()]);
  const login = await finishLogin(
    { provider, clientSecret, appUrl: url, allowed, accounts: accountStore, sessions: sessionStore },
    {
      parameters: event.multiValueQueryStringParameters ?? {},
      cookies: parseCookies(headerValues(event, 'cookie')),
      userAgent: header(event, 'user-agent') ?? '',
    },
  );
  if (login.refusal) {
    const { code, cause, isOurFailure } = login.refusal;
    if (isOurFailure) measure({}, { LoginFailures: 1 });
    // What a person or a browser did wrong needs no stack trace: the code and the detail explain it.
    const why = isOurFailure ? describeError(cause) : { detail: (cause as Error).message };
    log('warn', 'login refused', { request_id: event.requestContext.requestId, code, ...why });
    auditRequest(event, 'login_refused', { code });
  }
  if (login.begun) {
    const { accountId: account_id, session, replacedSession } = login.begun;
    auditRequest(event, 'login', {
      account_id,
      session,
      ...(replacedSession !== undefined && { replaced_session: replacedSession }),
    });
  }
  return redirect(login.location, login.cookies);
});
