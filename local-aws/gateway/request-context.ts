import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiResource, RestApi } from './rest-api.ts';

/** The `requestContext` of a proxy event, without the fields of authentication, which would be null. */
export interface RequestContext {
  readonly accountId: string;
  readonly apiId: string;
  readonly deploymentId: string;
  readonly domainName: string;
  readonly domainPrefix: string;
  readonly extendedRequestId: string;
  readonly httpMethod: string;
  readonly identity: {
    readonly sourceIp: string;
    readonly userAgent: string | null;
    /** The API key of the request; absent when its method needs none. */
    readonly apiKey?: string;
    readonly apiKeyId?: string;
  };
  /** The path of the request, with the stage. */
  readonly path: string;
  readonly protocol: string;
  readonly requestId: string;
  /** The time of the request, such as `21/Nov/2026:04:11:00 +0000`. */
  readonly requestTime: string;
  readonly requestTimeEpoch: number;
  readonly resourceId?: string;
  readonly resourcePath?: string;
  readonly stage: string;
}

/** What is known of a request before its route is found. */
export function requestContext(
  api: RestApi,
  accountId: string,
  message: IncomingMessage,
  request: { readonly method: string; readonly path: string },
): RequestContext {
  const now = new Date();
  return {
    accountId,
    apiId: api.id,
    deploymentId: api.deploymentId,
    domainName: api.domainName,
    domainPrefix: api.id,
    extendedRequestId: `${randomBytes(11).toString('base64url')}=`,
    httpMethod: request.method,
    identity: {
      // The peer of the connection; behind CloudFront that is one of its nodes, never the client.
      sourceIp: (message.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
      userAgent: message.headers['user-agent'] ?? null,
    },
    path: request.path,
    protocol: `HTTP/${message.httpVersion}`,
    requestId: randomUUID(),
    requestTime: clfTime(now),
    requestTimeEpoch: now.getTime(),
    stage: api.stage,
  };
}

export function routedContext(context: RequestContext, { id, path }: ApiResource): RequestContext {
  return { ...context, resourceId: id, resourcePath: path };
}

export function keyedContext(context: RequestContext, apiKey: string, apiKeyId: string): RequestContext {
  return { ...context, identity: { ...context.identity, apiKey, apiKeyId } };
}

/** The time format of access logs. */
function clfTime(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(date.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${time} +0000`;
}
