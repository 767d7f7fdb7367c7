import type middy from '@middy/core';
import type { Context } from 'aws-lambda';
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

/** What is known of a request's credential. */
interface Credential {
  readonly caller: Caller;
  /** Resolves when the use of the key has been noted, or could not be. */
  readonly noted?: Promise<void>;
}

type Request = middy.Request<ApiEvent, ApiResult, Error, Context, { noted?: Promise<void> | undefined }>;

/**
 * Sets `event.caller`. The use of a key is noted while the request goes on, and before it is answered.
 * @throws ApiError `unauthorized` without a credential that the route takes.
 */
export function authenticate(stores: CredentialStores, access: Exclude<Access, 'public'>): Middleware {
  async function authenticateBefore({ event, internal }: Request): Promise<void> {
    const { caller, noted } = await findCaller(stores, event, access);
    event.caller = caller;
    internal.noted = noted;
  }
  async function waitUntilNoted({ internal }: Request): Promise<void> {
    await internal.noted;
  }
  return { before: authenticateBefore, after: waitUntilNoted, onError: waitUntilNoted };
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
): Promise<Credential> {
  const authorization = headerValues(event, 'authorization');
  const found =
    authorization.length > 0
      ? access === 'key-or-session' && (await callerByKey(stores, authorization, clock))
      : await callerBySession(stores, headerValues(event, 'cookie'), clock);
  if (!found) throw new ApiError('unauthorized');
  return found;
}

async function callerByKey(
  { keys }: CredentialStores,
  authorization: readonly string[],
  clock: () => number,
): Promise<Credential | undefined> {
  // With two headers it is unclear which one is meant.
  const [, text] = (authorization.length === 1 && BEARER.exec(authorization[0] ?? '')) || [];
  const key = text && (await authenticateKey(keys, text, clock));
  return key ? { caller: { accountId: key.accountId, by: 'key' }, noted: key.noted } : undefined;
}

async function callerBySession(
  { sessions, appUrl }: CredentialStores,
  cookie: readonly string[],
  clock: () => number,
): Promise<Credential | undefined> {
  if (cookie.length === 0) return undefined;
  const token = sessionTokenIn(parseCookies(cookie), await appUrl());
  const session = token && (await findSession(sessions, token, clock));
  if (!session) return undefined;
  return { caller: { accountId: session.accountId, by: 'session', sessionHash: session.tokenHash } };
}
