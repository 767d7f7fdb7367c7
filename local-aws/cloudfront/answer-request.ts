import { type Answer, cachingFetch, type FetchContext } from './caching-fetch.ts';
import type { CacheBehavior } from './distribution.ts';
import {
  eventContext,
  fromFunctionRequest,
  fromFunctionResponse,
  InvalidFunctionResult,
  isFunctionResponse,
  toFunctionRequest,
  toFunctionResponse,
} from './function-events.ts';
import type { FunctionRuntime } from './function-runtime.ts';
import type { HeaderMap } from './header-map.ts';
import { addOwnHeaders, ownError } from './own-answers.ts';
import { behaviorFor } from './path-patterns.ts';
import type { ResponseHeadersPolicy } from './policies.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** The answer to a viewer, and the behavior that made it. */
export interface Outcome {
  readonly answer: Answer;
  readonly behavior: CacheBehavior;
}

/** The longest URL that CloudFront accepts. Source: CloudFront quotas. */
const URL_MAX_BYTES = 8_192;

/** Answers a request: behavior, function, cache or origin, error page, response headers, function. Never throws. */
export async function answerRequest(context: FetchContext, viewer: ViewerRequest): Promise<Outcome> {
  const behavior = behaviorFor(viewer.path, context.distribution.behaviors);
  let answer: Answer;
  try {
    const made = await makeAnswer(context, viewer, behavior);
    answer = viewerAnswer(await withErrorPage(context, made, viewer), viewer, behavior);
  } catch (error) {
    // Only a function can still fail: its code (503) or its result (502).
    const status = error instanceof InvalidFunctionResult ? 502 : 503;
    const failed: Answer = { ...ownError(status, viewer.id), source: 'Error', failure: String(error) };
    answer = viewerAnswer(await withErrorPage(context, failed, viewer), viewer, withoutFunctions(behavior));
  }
  return { answer, behavior };
}

function withoutFunctions({
  viewerRequest: _request,
  viewerResponse: _response,
  ...rest
}: CacheBehavior): CacheBehavior {
  return rest;
}

async function makeAnswer(context: FetchContext, viewer: ViewerRequest, behavior: CacheBehavior): Promise<Answer> {
  const refusal = refusedStatus(viewer, behavior);
  if (refusal) return { ...ownError(refusal, viewer.id), source: 'Error' };
  const routed = runViewerRequest(viewer, behavior);
  if ('answer' in routed) return routed.answer;

  const origin = context.distribution.origins.get(routed.originId);
  if (!origin) throw new InvalidFunctionResult(`there is no origin "${routed.originId}"`);
  return cachingFetch(context, routed.request, behavior, origin);
}

/** The status of a request that CloudFront refuses before anything else. Source: "Request and response behavior for custom origins". */
function refusedStatus(viewer: ViewerRequest, behavior: CacheBehavior): 403 | 414 | undefined {
  if (viewer.path.length + viewer.query.length > URL_MAX_BYTES) return 414;
  if (!behavior.allowedMethods.has(viewer.method)) return 403;
  const reads = viewer.method === 'GET' || viewer.method === 'HEAD';
  return reads && viewer.body ? 403 : undefined;
}

function runViewerRequest(
  viewer: ViewerRequest,
  behavior: CacheBehavior,
): { answer: Answer } | { request: ViewerRequest; originId: string } {
  if (!behavior.viewerRequest) return { request: viewer, originId: behavior.originId };
  const { result, selectedOriginId } = behavior.viewerRequest.run({
    ...eventContext('viewer-request', viewer),
    request: toFunctionRequest(viewer),
  });
  if (isFunctionResponse(result)) {
    const { body = Buffer.alloc(0), ...response } = fromFunctionResponse(result);
    response.headers.set('content-length', [String(body.length)]);
    return { answer: { ...response, body, source: 'FunctionGeneratedResponse' } };
  }
  return { request: fromFunctionRequest(result, viewer), originId: selectedOriginId ?? behavior.originId };
}

/** Replaces an error by its page of `CustomErrorResponses`, unless a function made the error. */
async function withErrorPage(context: FetchContext, answer: Answer, viewer: ViewerRequest): Promise<Answer> {
  const page = context.distribution.errorRules.get(answer.status)?.page;
  if (!page || answer.source === 'FunctionGeneratedResponse') return answer;
  if (!Buffer.isBuffer(answer.body)) answer.body.destroy();

  const { body: _body, ...rest } = viewer;
  const request = { ...rest, method: 'GET', path: page.path, query: '', headers: new Map() };
  const behavior = behaviorFor(page.path, context.distribution.behaviors);
  const origin = context.distribution.origins.get(behavior.originId);
  if (!origin) throw new Error(`there is no origin "${behavior.originId}"`);
  const found = await cachingFetch(context, request, behavior, origin);
  // When the page cannot be fetched, the error of that request is the answer, as on CloudFront.
  const isPage = found.status === 200;
  return {
    ...found,
    status: isPage ? page.status : found.status,
    source: 'Error',
    ...(answer.failure && { failure: answer.failure }),
  };
}

/**
 * Turns an answer into the one that the viewer gets: applies the response headers policy of the behavior, runs its viewer-response
 * function (not for errors), and adds CloudFront's own headers. An answer that a viewer-request function made gets only CloudFront's
 * own headers.
 * @throws errors of the function, and InvalidFunctionResult.
 */
function viewerAnswer(answer: Answer, viewer: ViewerRequest, behavior: CacheBehavior): Answer {
  let { status, body } = answer;
  let headers: HeaderMap = new Map(answer.headers);
  if (answer.source !== 'FunctionGeneratedResponse') {
    if (behavior.responseHeadersPolicy) applyPolicy(headers, behavior.responseHeadersPolicy, viewer);
    if (behavior.viewerResponse && status < 400) {
      ({ status, headers, body = body } = runViewerResponse(behavior.viewerResponse, viewer, status, headers));
      if (body !== answer.body && !Buffer.isBuffer(answer.body)) answer.body.destroy();
    }
  }
  if (Buffer.isBuffer(body) && body !== answer.body) headers.set('content-length', [String(body.length)]);
  addOwnHeaders(headers, answer.source, viewer.id);
  return { ...answer, status, headers, body };
}

function applyPolicy(headers: HeaderMap, policy: ResponseHeadersPolicy, viewer: ViewerRequest): void {
  for (const name of policy.remove) headers.delete(name);
  for (const { name, value, override } of viewer.headers.has('origin') ? [...policy.set, ...policy.cors] : policy.set) {
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
