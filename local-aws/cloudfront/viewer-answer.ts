import type { CacheBehavior } from './cache-behaviors.ts';
import type { Answer } from './caching-fetch.ts';
import { eventContext, fromFunctionResponse, toFunctionRequest, toFunctionResponse } from './function-events.ts';
import type { FunctionRuntime } from './function-runtime.ts';
import type { HeaderMap } from './header-map.ts';
import { addOwnHeaders } from './own-answers.ts';
import type { ResponseHeadersPolicy } from './policies.ts';
import type { ViewerRequest } from './viewer-request.ts';

/**
 * What the viewer gets of an answer: with the behavior's response headers policy, changed by its viewer-response function
 * (which does not run for errors), and with CloudFront's own headers.
 * @throws whatever is wrong with the function or its result.
 */
export function viewerAnswer(answer: Answer, viewer: ViewerRequest, behavior: CacheBehavior): Answer {
  let { status, body } = answer;
  let headers: HeaderMap = new Map(answer.headers);
  if (answer.source !== 'FunctionGeneratedResponse') {
    if (behavior.responseHeadersPolicy) applyPolicy(headers, behavior.responseHeadersPolicy);
    if (behavior.viewerResponse && status < 400) {
      ({ status, headers, body = body } = runViewerResponse(behavior.viewerResponse, viewer, status, headers));
      if (body !== answer.body && !Buffer.isBuffer(answer.body)) answer.body.destroy();
    }
  }
  if (Buffer.isBuffer(body) && body !== answer.body) headers.set('content-length', [String(body.length)]);
  addOwnHeaders(headers, answer.source, viewer.id);
  return { ...answer, status, headers, body };
}

function applyPolicy(headers: HeaderMap, policy: ResponseHeadersPolicy): void {
  for (const name of policy.remove) headers.delete(name);
  for (const { name, value, override } of policy.set) {
    if (override || !headers.has(name)) headers.set(name, [value]);
  }
}

function runViewerResponse(runtime: FunctionRuntime, viewer: ViewerRequest, status: number, headers: HeaderMap) {
  const { result } = runtime.run({
    ...eventContext('viewer-response', viewer),
    request: toFunctionRequest(viewer),
    response: toFunctionResponse(status, headers),
  });
  return fromFunctionResponse(result, headers);
}
