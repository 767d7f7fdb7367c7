import type { JWTPayload } from 'jose';
import { beforeEach, expect } from 'vitest';
import { type Cookie, parseCookies } from '../../../shared/http/cookies.ts';
import { finishLogin, type LoginOutcome } from '../../../shared/login/finish-login.ts';
import type { AllowList } from '../../../shared/login/identity.ts';
import type { LoginProvider } from '../../../shared/login/provider.ts';
import { startLogin } from '../../../shared/login/start-login.ts';
import { startAws } from '../../support/aws.ts';
import { publicKeys, sign, startForgingProvider } from './forging-provider.ts';

/** Logins on real tables, with a provider that answers whatever a test wants. */
export const { front, engine, tables } = await startAws();
export const { sessionStore: sessions } = await import('../../../shared/aws/session-store.ts');
export const { accountStore: accounts } = await import('../../../shared/aws/account-store.ts');
export const forging = await startForgingProvider();

const APP_URL = 'https://app.example.org';
/** The time of every attempt that sets no other, in epoch seconds and in milliseconds. */
export const SECONDS = Math.floor(Date.now() / 1_000);
export const NOW = SECONDS * 1_000;
const EVERYBODY: AllowList = { domains: [], emails: ['everyone'] };

beforeEach(() => {
  forging.exchanges.length = 0;
  forging.keys = { status: 200, body: { keys: publicKeys } };
});

/** The cookies a browser holds after these `Set-Cookie`s. */
export function browser(setCookies: readonly string[], cookies: readonly Cookie[] = []): Cookie[] {
  const jar = new Map(cookies.map(({ name, value }) => [name, value]));
  for (const line of setCookies) {
    const [cookie] = parseCookies([line.split(';', 1)[0] ?? '']);
    if (!cookie) throw new Error(`not a cookie: ${line}`);
    if (line.includes('Max-Age=0')) jar.delete(cookie.name);
    else jar.set(cookie.name, cookie.value);
  }
  return [...jar].map(([name, value]) => ({ name, value }));
}

export function begin({
  cookies = [],
  appUrl = APP_URL,
  now = NOW,
}: {
  cookies?: Cookie[];
  appUrl?: string;
  now?: number;
} = {}) {
  const redirect = startLogin({ provider: forging.provider, appUrl, cookies }, () => now);
  const parameters = new URL(redirect.location).searchParams;
  return {
    setCookies: redirect.cookies,
    cookies: browser(redirect.cookies, cookies),
    location: redirect.location,
    state: parameters.get('state') ?? '',
    nonce: parameters.get('nonce') ?? '',
    challenge: parameters.get('code_challenge') ?? '',
  };
}

export const honestClaims = (nonce: string): JWTPayload => ({
  iss: forging.provider.issuer,
  aud: forging.provider.clientId,
  sub: 'subject-1',
  nonce,
  iat: SECONDS,
  exp: SECONDS + 3_600,
  email: 'Ada@Example.org',
  email_verified: true,
  name: 'Ada Lovelace',
  picture: 'https://pictures.example/ada.png',
});

export interface Attempt {
  /** Changes to the correct claims; undefined removes one. */
  claims?: JWTPayload;
  /** The whole token, instead of signed claims. */
  token?: (nonce: string) => Promise<string>;
  parameters?: Record<string, string[] | undefined>;
  cookies?: Cookie[];
  allowed?: AllowList;
  provider?: Partial<LoginProvider>;
  appUrl?: string;
  now?: number;
}

/** One login from start to end, correct except for the given changes. */
export async function logIn(attempt: Attempt = {}, started = begin(attempt)): Promise<LoginOutcome> {
  const honest = () => sign({ ...honestClaims(started.nonce), ...attempt.claims });
  forging.answer = { status: 200, body: { id_token: await (attempt.token?.(started.nonce) ?? honest()) } };
  return finish(attempt, started);
}

export function finish(attempt: Attempt, started: { state: string; cookies: Cookie[] }): Promise<LoginOutcome> {
  const setting = {
    provider: { ...forging.provider, ...attempt.provider },
    clientSecret: 'our-secret',
    appUrl: attempt.appUrl ?? APP_URL,
    allowed: attempt.allowed ?? EVERYBODY,
    accounts,
    sessions,
  };
  const parameters = { state: [started.state], code: ['code-1'], ...attempt.parameters };
  return finishLogin(setting, { parameters, cookies: started.cookies, userAgent: '' }, () => attempt.now ?? NOW);
}

export const sessionOf = (outcome: LoginOutcome) =>
  browser(outcome.cookies).find(({ name }) => name.endsWith('session'))?.value;
const errorOf = (outcome: LoginOutcome) =>
  /^https:\/\/app\.example\.org\/dashboard\/login\?error=(\w+)$/.exec(outcome.location)?.[1];

/** Expects that the login has made a session, and that the browser goes on to the dashboard. */
export function expectLoggedIn(outcome: LoginOutcome): void {
  expect(outcome.refusal).toBeUndefined();
  expect(errorOf(outcome)).toBeUndefined();
  expect(outcome.location).toMatch(/^https:\/\/app\.example\.org\/dashboard/);
  expect(sessionOf(outcome)).toMatch(/^[0-9A-Za-z]{43}$/);
}

export async function expectRefused(outcome: LoginOutcome, code: string): Promise<void> {
  expect(errorOf(outcome)).toBe(code);
  expect(outcome.refusal?.code).toBe(code);
  expect(sessionOf(outcome)).toBeUndefined();
}
