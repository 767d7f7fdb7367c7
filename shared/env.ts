import { type LimitName, parseLimit } from './contract/limits.ts';

/**
 * Every variable that a function or `npm run admin` may find in its environment. Three kinds are not in the list: the limits (see
 * `limits.ts`), `DATA_DIR` of `npm start`, and the variables that Lambda itself sets. The stack gives each function only the variables that
 * it needs. Only `shared/aws/`, the middleware, `shared/metrics.ts` (the stage), and the files of `functions/` and `operator/admin/` read variables,
 * through this file. Domain code gets the values as arguments.
 */
export const VARIABLES = {
  STAGE: '`prod`, `dev` or `local`; every metric has it, and it decides the prefix of API keys',
  COMMIT: 'the commit of the code that runs; `unknown` when it was not built in a clone of the repository',
  ACCOUNTS_TABLE: 'name of the accounts table',
  FILES_TABLE: 'name of the files table',
  API_KEYS_TABLE: 'name of the API keys table',
  SESSIONS_TABLE: 'name of the sessions table',
  RATE_LIMITS_TABLE: 'name of the rate limits table',
  IDEMPOTENCY_TABLE: 'name of the idempotency table',
  AUDIT_LOG: 'name of the log group of the audit trail, for `npm run admin`',
  UPLOADS_BUCKET: 'name of the bucket that holds the files',
  CDN_URL: 'address from which files are served, without a trailing slash',
  CDN_DISTRIBUTION_URL:
    'the same address under cloudfront.net, which goes on working when the operator has a domain of their own',
  APP_URL_PARAMETER: 'name of the SSM parameter with the address of API and dashboard, without a trailing slash',
  LOGIN_PROVIDER_PARAMETER:
    'name of the SSM parameter with the identity provider and the id of our client (see shared/login/provider.ts)',
  LOGIN_CLIENT_SECRET: 'ARN of the secret with the secret of our client at the identity provider',
  ORIGIN_SECRET: 'ARN of the secret by which functions recognise a request from our edge',
  CANARY_KEY_PARAMETER: 'name of the SSM parameter (SecureString) with the API key of the canary',
  CANARY_STREAMS: '`true` when the canary uploads through the streaming lane as well',
  NEEDED_VARIABLES:
    'comma-separated names of the variables and limits that this function needs (see infra/constructs/needs.ts)',
  ALLOWED_EMAIL_DOMAINS: 'comma-separated; people with an address in these domains may log in',
  ALLOWED_EMAILS:
    'comma-separated; people with these addresses may log in; the word `everyone` stands for all addresses',
} as const;

/**
 * In `ALLOWED_EMAILS` this word stands for all addresses. If `ALLOWED_EMAILS` and `ALLOWED_EMAIL_DOMAINS` are both empty, every login is
 * refused.
 */
export const EVERYONE = 'everyone';

export type VariableName = keyof typeof VARIABLES;

checkEnvironment();

/**
 * If a variable of `NEEDED_VARIABLES` is missing, the function fails when it loads. Without this check, the function would fail only at the
 * first request that uses the variable. Tests and the operator's command do not set `NEEDED_VARIABLES`, so nothing is checked there.
 */
function checkEnvironment(): void {
  const needed = process.env.NEEDED_VARIABLES?.split(',') ?? [];
  const missing = needed.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Error(`environment variable ${missing.join(' and ')} is not set`);
}

/** @throws Error naming the variable when it is absent or empty. */
export function required(name: VariableName): string {
  const value = process.env[name];
  if (!value) throw new Error(`environment variable ${name} is not set (${VARIABLES[name]})`);
  return value;
}

/** The items of a comma-separated variable, trimmed and lower-cased; none when it is absent. */
export function list(name: VariableName): string[] {
  return (process.env[name] ?? '')
    .toLowerCase()
    .split(',')
    .flatMap((item) => item.trim() || []);
}

/** @throws Error naming the limit when the stack did not set the limit, or its value is out of bounds. */
export function limit(name: LimitName): number {
  const text = process.env[name];
  if (!text) throw new Error(`environment variable ${name} is not set`);
  return parseLimit(name, text);
}
