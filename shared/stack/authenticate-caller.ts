import { type ApiKeyCredentials, authenticateKey } from '../api-keys/api-key.ts';
import { ApiError } from '../errors.ts';
import { parseCookies } from '../http/cookies.ts';
import type { Caller } from '../http/event.ts';
import { sessionTokenIn } from '../http/session-cookie.ts';
import type { Access } from '../routes.ts';
import { findSession, type SessionStore } from '../sessions/session.ts';

/** Every value of the two headers that carry a credential. */
export interface CredentialHeaders {
  readonly authorization: readonly string[];
  readonly cookie: readonly string[];
}

export interface CredentialStores {
  readonly keys: ApiKeyCredentials;
  readonly sessions: SessionStore;
  /** The app's public address, which decides the cookie's name; asked only when a cookie matters. */
  readonly appUrl: () => Promise<string>;
}

/** RFC 6750, section 2.1; the scheme in any case (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * Who is asking, by one strongly consistent read. With an `Authorization` header, good or bad, the cookie is ignored: a
 * program says what it means, and its request cannot be one that a foreign page made a browser send.
 * @throws ApiError `unauthorized` without a credential that is valid and that the route takes.
 */
export async function authenticate(
  stores: CredentialStores,
  { authorization, cookie }: CredentialHeaders,
  access: Exclude<Access, 'public'>,
  clock: () => number = Date.now,
): Promise<Caller> {
  const caller =
    authorization.length > 0
      ? access === 'key-or-session' && (await callerByKey(stores, authorization, clock))
      : await callerBySession(stores, cookie, clock);
  if (!caller) throw new ApiError('unauthorized');
  return caller;
}

async function callerByKey(
  { keys }: CredentialStores,
  authorization: readonly string[],
  clock: () => number,
): Promise<Caller | undefined> {
  // Of two headers nobody can say which is meant.
  const [, text] = (authorization.length === 1 && BEARER.exec(authorization[0] ?? '')) || [];
  const key = text && (await authenticateKey(keys, text, clock));
  return key ? { accountId: key.accountId, by: 'key' } : undefined;
}

async function callerBySession(
  { sessions, appUrl }: CredentialStores,
  cookie: readonly string[],
  clock: () => number,
): Promise<Caller | undefined> {
  if (cookie.length === 0) return undefined;
  const token = sessionTokenIn(parseCookies(cookie), await appUrl());
  const session = token && (await findSession(sessions, token, clock));
  return session ? { accountId: session.accountId, by: 'session', sessionHash: session.tokenHash } : undefined;
}
