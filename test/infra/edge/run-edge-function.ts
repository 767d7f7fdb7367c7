import type { FunctionRequest, FunctionResponse, Value, ViewerRequestEvent } from 'cloudfront';
import { type EdgeFunctionFile, renderEdgeFunction } from '../../../infra/edge/render.ts';
import { type FunctionRuntime, loadFunction } from '../../../infra/local/cloudfront/function-runtime.ts';
import { INLINE_BODY_MAX_BYTES, MULTIPART_FRAMING_MAX_BYTES, parseLimit } from '../../../shared/limits.ts';

export const APP_CONSTANTS = {
  MAX_UPLOAD_SIZE_BYTES: parseLimit('MAX_UPLOAD_SIZE_BYTES', undefined),
  MULTIPART_FRAMING_MAX_BYTES,
  INLINE_BODY_MAX_BYTES,
  STREAMING_UPLOADS: true,
  DASHBOARD_FILES: 'index.html',
};

/** The very file that is deployed, its constants filled in. */
export function edgeFunction(
  file: EdgeFunctionFile,
  constants: Record<string, number | boolean | string> = {},
): FunctionRuntime {
  return loadFunction(renderEdgeFunction(file, constants));
}

/** @param headers  by lower-case name; `cookie` becomes the event's cookies. */
export function viewerRequestEvent(
  method: string,
  uri: string,
  { cookie, ...headers }: Record<string, string> = {},
): ViewerRequestEvent {
  const values = Object.entries(headers).map(([name, value]): [string, Value] => [name, { value }]);
  const [name = '', value = ''] = cookie?.split('=') ?? [];
  return {
    version: '1.0',
    context: { distributionDomainName: 'd', distributionId: 'D', eventType: 'viewer-request', requestId: 'request-1' },
    viewer: { ip: '198.51.100.7' },
    request: {
      method,
      uri,
      querystring: {},
      headers: Object.fromEntries(values),
      cookies: cookie ? { [name]: { value } } : {},
    },
  };
}

/** What became of a request, in one line: `origin: uri`, or `status body`. */
export function summary(outcome: { result: unknown; selectedOriginId?: string }): string {
  const result = outcome.result as FunctionRequest | FunctionResponse;
  if ('statusCode' in result) return `${result.statusCode} ${result.headers?.location?.value ?? result.body}`;
  return `${outcome.selectedOriginId ?? 'default'}: ${result.uri}`;
}
