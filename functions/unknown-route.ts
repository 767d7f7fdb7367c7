import middy from '@middy/core';
import { ApiError } from '../shared/errors.ts';
import type { ApiEvent, ApiResult } from '../shared/http/event.ts';
import { methodsOf, ROUTES } from '../shared/routes.ts';
import { baseHeaders } from '../shared/stack/base-headers.ts';
import { errorResponse } from '../shared/stack/error-response.ts';
import { requestLog } from '../shared/stack/request-log.ts';

/** Every path and method the table does not have: 405 with `Allow` when the path exists, else 404. */
export const handler = middy<ApiEvent, ApiResult>()
  .use(requestLog('unknownRoute'))
  .use(baseHeaders())
  .use(errorResponse())
  .handler((event: ApiEvent) => {
    const methods = methodsAt(event.path);
    if (methods.length === 0) throw new ApiError('not_found');
    throw new ApiError('method_not_allowed', { headers: { Allow: methods.join(', ') } });
  });

function methodsAt(path: string): string[] {
  return Object.values(ROUTES).flatMap((route) => (pattern(route.path).test(path) ? methodsOf(route) : []));
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
