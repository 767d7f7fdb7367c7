import type { FunctionRequest, FunctionResponse, ViewerRequestEvent } from 'cloudfront';
import { type EdgeFunctionFile, renderEdgeFunction } from '../../infra/edge/render.ts';
import { toFunctionRequest } from '../../local-aws/cloudfront/function-events.ts';
import { type FunctionRuntime, loadFunction } from '../../local-aws/cloudfront/function-runtime.ts';
import type { ViewerRequest } from '../../local-aws/cloudfront/viewer-request.ts';
import { OPENAPI_PATH } from '../../shared/contract/document.ts';
import { FOR_PROGRAMS_PATH } from '../../shared/contract/for-programs.ts';
import { INLINE_BODY_MAX_BYTES, MULTIPART_FRAMING_MAX_BYTES, parseLimit } from '../../shared/contract/limits.ts';

export const APP_CONSTANTS = {
  MAX_UPLOAD_SIZE_BYTES: parseLimit('MAX_UPLOAD_SIZE_BYTES', undefined),
  MULTIPART_FRAMING_MAX_BYTES,
  INLINE_BODY_MAX_BYTES,
  STREAMING_UPLOADS: true,
  DASHBOARD_FILES: 'index.html',
  OPENAPI_PATH,
  TEXTS: FOR_PROGRAMS_PATH,
};

/** Loads the file that is deployed, with its constants filled in. */
export function edgeFunction(
  file: EdgeFunctionFile,
  constants: Record<string, number | boolean | string> = {},
): FunctionRuntime {
  return loadFunction(renderEdgeFunction(file, constants));
}

/** A viewer's request, as the edge has read it. @param headers  by lower-case name. */
export function viewerRequest(method: string, target: string, headers: Record<string, string> = {}): ViewerRequest {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const values = Object.entries(headers).map(([name, value]): [string, string[]] => [name, [value]]);
  return { id: 'request-1', method, path, query, headers: new Map(values), ip: '198.51.100.7' };
}

/** Builds the event of a viewer's request. @param headers  by lower-case name; `cookie` becomes the event's cookies. */
export function viewerRequestEvent(
  method: string,
  target: string,
  headers: Record<string, string> = {},
): ViewerRequestEvent {
  const viewer = viewerRequest(method, target, headers);
  return {
    version: '1.0',
    context: {
      distributionDomainName: 'd',
      distributionId: 'D',
      eventType: 'viewer-request',
      requestId: viewer.id,
    },
    viewer: { ip: viewer.ip },
    request: toFunctionRequest(viewer),
  };
}

/** Describes a function's result in one line: `<uri> from the origin <id>`, `<status> <location>`, or `<status> <body>`. */
export function summary(outcome: { result: unknown; selectedOriginId?: string }): string {
  const result = outcome.result as FunctionRequest | FunctionResponse;
  if ('statusCode' in result) return `${result.statusCode} ${result.headers?.location?.value ?? result.body}`;
  return `${result.uri} from the origin ${outcome.selectedOriginId ?? 'default'}`;
}
