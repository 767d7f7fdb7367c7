import type middy from '@middy/core';
import { apiKeyCredentials } from '../aws/api-key-credentials.ts';
import { appUrl } from '../aws/parameters.ts';
import { sessionStore } from '../aws/session-store.ts';
import { type ApiEvent, type ApiResult, headerValues } from '../http/event.ts';
import type { Access } from '../routes.ts';
import { authenticate as findCaller } from './authenticate-caller.ts';

const stores = { keys: apiKeyCredentials, sessions: sessionStore, appUrl };

/** Puts who is asking on the event. @throws ApiError `unauthorized` without a credential that the route takes. */
export function authenticate(access: Exclude<Access, 'public'>): middy.MiddlewareObj<ApiEvent, ApiResult> {
  async function authenticateBefore({ event }: middy.Request<ApiEvent, ApiResult>): Promise<void> {
    const credentials = {
      authorization: headerValues(event, 'authorization'),
      cookie: headerValues(event, 'cookie'),
    };
    event.caller = await findCaller(stores, credentials, access);
  }
  return { before: authenticateBefore };
}
