import type { Method } from 'aws-cdk-lib/aws-apigateway';
import type { Access } from '../../shared/routes.ts';
import { acceptFindings } from './accepted-finding.ts';

const BY_FUNCTION = 'refuses whoever has none with 401 before it reaches any data';

/** Why the gateway asks for no authorization itself. */
const REASONS: Readonly<Record<Access | 'unknown', string>> = {
  public: 'Open to all on purpose: a health check, or the login, before which nobody can be known',
  session: `The function reads the session from the cookie and ${BY_FUNCTION}`,
  'key-or-session': `The function reads the API key or the session and ${BY_FUNCTION}`,
  unknown: 'Answers 404 or 405 to everybody, by its path alone, and reaches no data',
};

/** Accepts that the gateway lets everybody through to the function of a route, or of none. */
export function acceptOwnAuthorization(method: Method, access: Access | 'unknown'): void {
  acceptFindings(method, {
    APIG4: REASONS[access],
    COG4: 'There is no Cognito: accounts come from the Google login, sessions and API keys are rows of our own tables',
  });
}
