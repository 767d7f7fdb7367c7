import type middy from '@middy/core';
import { type ApiKeyCredentials, authenticateKey } from '../api-keys/api-key.ts';
import { isWellFormedKey, prefixOf } from '../api-keys/key-format.ts';
import type { Access } from '../contract/route.ts';
import { ApiError } from '../errors.ts';
import { parseCookies, sessionTokenIn } from '../http/cookies.ts';
import { type ApiEvent, type Caller, headerValues } from '../http/request.ts';
import type { ApiResult } from '../http/response.ts';
import { findSession, type SessionCredentials } from '../sessions/session.ts';
import type { Middleware } from './route-stack.ts';

export interface CredentialStores {
  readonly keys: ApiKeyCredentials;
  readonly sessions: SessionCredentials;
  /**
   * Finds the app's public address, which decides the cookie's name. Called only for a request that has a cookie and no `Authorization`
   * header.
   */
  readonly appUrl: () => Promise<string>;
}

/**
 * Sets `event.caller`.
 * @throws ApiError `unauthorized` without a credential that the route takes.
 */
export function authenticate(stores: CredentialStores, access: Exclude<Access, 'public'>): Middleware {
  async function authenticateBefore({ event }: middy.Request<ApiEvent, ApiResult>): Promise<void> {
    const caller = await findCaller(stores, event, access);
    if (!caller) {
      const { detail, keyPrefix } = describeRefused(event, access);
      if (keyPrefix !== undefined) event.refusedKeyPrefix = keyPrefix;
      throw new ApiError('unauthorized', { detail });
    }
    event.caller = caller;
  }
  return { before: authenticateBefore };
}

/** RFC 6750, section 2.1; the scheme in upper or lower case (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * Finds the caller by one strongly consistent read. The result is undefined if the request has no valid credential that the route takes. If
 * there is an `Authorization` header, valid or not, the cookie is ignored: such a request comes from a program, because a page of another
 * site cannot make a browser send that header.
 */
async function findCaller(
  stores: CredentialStores,
  event: ApiEvent,
  access: Exclude<Access, 'public'>,
  clock: () => number = Date.now,
): Promise<Caller | undefined> {
  const authorization = headerValues(event, 'authorization');
  if (authorization.length === 0) return callerBySession(stores, headerValues(event, 'cookie'), clock);
  return access === 'key-or-session' ? callerByKey(stores, keyIn(authorization), clock) : undefined;
}

/** Why a credential was refused. Only the log gets the prefix of a well-formed key, and nobody a whole credential. */
function describeRefused(event: ApiEvent, access: Access): { readonly detail: string; readonly keyPrefix?: string } {
  const authorization = headerValues(event, 'authorization');
  if (authorization.length === 0) {
    const hasCookie = headerValues(event, 'cookie').length > 0;
    return { detail: hasCookie ? 'no cookie of a session, or the session has ended' : 'no credential' };
  }
  if (access === 'session') return { detail: 'the route takes no key' };
  const key = keyIn(authorization);
  if (key === undefined || !isWellFormedKey(key)) return { detail: 'the Authorization header has no well-formed key' };
  return { detail: 'there is no such key, or its account is suspended', keyPrefix: prefixOf(key) };
}

/** The key in the `Authorization` header; undefined when there is none. If there are two such headers, it is unclear which one counts. */
function keyIn(authorization: readonly string[]): string | undefined {
  return authorization.length === 1 ? BEARER.exec(authorization[0] ?? '')?.[1] : undefined;
}

async function callerByKey(
  { keys }: CredentialStores,
  text: string | undefined,
  clock: () => number,
): Promise<Caller | undefined> {
  const key = text === undefined ? undefined : await authenticateKey(keys, text, clock);
  if (!key) return undefined;
  return { accountId: key.accountId, by: 'key', keyPrefix: key.keyPrefix };
}

async function callerBySession(
  { sessions, appUrl }: CredentialStores,
  cookie: readonly string[],
  clock: () => number,
): Promise<Caller | undefined> {
  if (cookie.length === 0) return undefined;
  const token = sessionTokenIn(parseCookies(cookie), await appUrl());
  const session = token && (await findSession(sessions, token, clock));
  if (!session) return undefined;
  return { accountId: session.accountId, by: 'session', sessionHash: session.tokenHash };
}
