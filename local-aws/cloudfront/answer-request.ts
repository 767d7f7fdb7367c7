import type { CacheBehavior } from './cache-behaviors.ts';
import { type Answer, cachingFetch, type FetchContext } from './caching-fetch.ts';
import {
  eventContext,
  fromFunctionRequest,
  fromFunctionResponse,
  InvalidFunctionResult,
  isFunctionResponse,
  toFunctionRequest,
} from './function-events.ts';
import { ownError } from './own-answers.ts';
import { behaviorFor } from './path-patterns.ts';
import { viewerAnswer } from './viewer-answer.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** What a viewer is answered, and by which behavior. */
export interface Outcome {
  readonly answer: Answer;
  readonly behavior: CacheBehavior;
}

/** CloudFront takes no longer URL. Source: CloudFront quotas. */
const URL_MAX_BYTES = 8_192;

/** The whole way of a request: behavior, function, cache and origin, error page, response headers, function. Never throws. */
export async function answerRequest(context: FetchContext, viewer: ViewerRequest): Promise<Outcome> {
  const behavior = behaviorFor(viewer.path, context.distribution.behaviors);
  let answer: Answer;
  try {
    const made = await makeAnswer(context, viewer, behavior);
    answer = viewerAnswer(await withErrorPage(context, made, viewer), viewer, behavior);
  } catch (error) {
    // What is left to fail is a function: its code (503) or its result (502).
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
  const { request } = routed;
  const { defaultRootObject } = context.distribution;
  const path = request.path === '/' && defaultRootObject ? `/${defaultRootObject}` : request.path;
  return cachingFetch(context, { ...request, path }, behavior, origin);
}

/** What CloudFront refuses before anything else. Source: "Request and response behavior for custom origins". */
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

/** Puts the page of `CustomErrorResponses` in the place of an error that no function made. */
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
  // A page that cannot be had is answered with its own error, as CloudFront does.
  const isPage = found.status === 200;
  return {
    ...found,
    status: isPage ? page.status : found.status,
    source: 'Error',
    ...(answer.failure && { failure: answer.failure }),
  };
}
