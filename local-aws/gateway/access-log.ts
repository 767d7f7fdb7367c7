import type { HttpAnswer } from './gateway-response.ts';
import type { RequestContext } from './request-context.ts';
import type { AccessLog } from './rest-api.ts';

/** What the access log needs to know of a request; filled in while the request is handled. */
export interface Progress {
  /** The path of the resource; absent when no route matches. */
  resourcePath?: string;
  /** The status and the time of the function; absent when no function was run, or when it did not end in time. */
  integration?: { readonly status: number; readonly milliseconds: number };
}

interface Logged {
  readonly context: RequestContext;
  readonly progress: Progress;
  readonly answer: HttpAnswer;
  readonly milliseconds: number;
}

/** The variables of an access log. Source: API Gateway Developer Guide, "Variables for access logging for API Gateway". */
const VARIABLES: Readonly<Record<string, (logged: Logged) => string | number | undefined>> = {
  requestId: ({ context }) => context.requestId,
  requestTimeEpoch: ({ context }) => context.requestTimeEpoch,
  httpMethod: ({ context }) => context.httpMethod,
  resourcePath: ({ progress }) => progress.resourcePath,
  status: ({ answer }) => answer.status,
  responseLatency: ({ milliseconds }) => Math.round(milliseconds),
  responseLength: ({ answer }) => answer.body.length,
  'integration.status': ({ progress }) => progress.integration?.status,
  'integration.latency': ({ progress }) => progress.integration && Math.round(progress.integration.milliseconds),
  'error.responseType': ({ answer }) => answer.errorType,
};

const VARIABLE = /\$context\.([\w.]+)/g;

/** @throws Error naming a variable that the local gateway does not know. */
export function checkFormat({ format }: AccessLog): void {
  for (const [variable, name = ''] of format.matchAll(VARIABLE)) {
    if (!Object.hasOwn(VARIABLES, name)) throw new Error(`the local gateway does not know ${variable}`);
  }
}

/** One line of the access log. A variable without a value is `-`. */
export function accessLine({ format }: AccessLog, logged: Logged): string {
  return format.replace(VARIABLE, (_, name: string) => String(VARIABLES[name]?.(logged) ?? '-'));
}
