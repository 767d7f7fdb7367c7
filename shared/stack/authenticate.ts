import type middy from '@middy/core';
import { type ApiKeyCredentials, authenticateKey } from '../api-keys/api-key.ts';
import { ApiError } from '../errors.ts';
import { parseCookies, sessionTokenIn } from '../http/cookies.ts';
import { type ApiEvent, type Caller, headerValues } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import type { Access } from '../routes.ts';
import { findSession, type SessionStore } from '../sessions/session.ts';
import type { Middleware } from './route-stack.ts';

export interface CredentialStores {
  readonly keys: ApiKeyCredentials;
  readonly sessions: SessionStore;
  /** The app's public address, which decides the cookie's name. Called only when a cookie matters. */
  readonly appUrl: () => Promise<string>;
}

/** Sets `event.caller`. @throws ApiError `unauthorized` without a credential that the route takes. */
export function authenticate(stores: CredentialStores, access: Exclude<Access, 'public'>): Middleware {
  async function authenticateBefore({ event }: middy.Request<ApiEvent, ApiResult>): Promise<void> {
    event.caller = await findCaller(stores, event, access);
  }
  return { before: authenticateBefore };
}

/** RFC 6750, section 2.1; the scheme in upper or lower case (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * Finds the caller by one strongly consistent read. With an `Authorization` header, valid or not, the cookie is ignored: such
 * a request comes from a program, because no foreign page can make a browser send that header.
 * @throws ApiError `unauthorized` without a credential that is valid and that the route takes.
 */
async function findCaller(
  stores: CredentialStores,
  event: ApiEvent,
  access: Exclude<Access, 'public'>,
  clock: () => number = Date.now,
): Promise<Caller> {
  const authorization = headerValues(event, 'authorization');
  const caller =
    authorization.length > 0
      ? access === 'key-or-session' && (await callerByKey(stores, authorization, clock))
      : await callerBySession(stores, headerValues(event, 'cookie'), clock);
  if (!caller) throw new ApiError('unauthorized');
  return caller;
}

async function callerByKey(
  { keys }: CredentialStores,
  authorization: readonly string[],
  clock: () => number,
): Promise<Caller | undefined> {
  // With two headers it is unclear which one is meant.
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
