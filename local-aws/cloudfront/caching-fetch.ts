import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { answerFromEntry, type Cache, type CacheEntry, cacheKey, LARGEST_ENTRY_BYTES } from './cache.ts';
import type { CacheBehavior, Distribution, Origin } from './distribution.ts';
import { type HeaderMap, header } from './header-map.ts';
import { DEFAULT_ERROR_CACHING_SECONDS, errorLifetimeSeconds, isServedOnError, lifetimeSeconds } from './lifetime.ts';
import { type OriginAnswer, type OriginClient, OriginFailure } from './origin-client.ts';
import { type OriginRequest, originRequest } from './origin-request.ts';
import { ownError } from './own-answers.ts';
import type { ViewerRequest } from './viewer-request.ts';

export interface Answer {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Buffer | Readable;
  /** Where the answer comes from, in the words of `X-Cache`. */
  readonly source: 'Hit' | 'Miss' | 'RefreshHit' | 'Error' | 'FunctionGeneratedResponse';
  /** Why CloudFront itself answers with an error. */
  readonly failure?: string;
}

export interface FetchContext {
  readonly distribution: Distribution;
  readonly cache: Cache;
  readonly client: OriginClient;
  readonly now: () => Date;
  /** Measures the age of cached answers. Nobody sets this clock back, so no answer stays for longer than it may. */
  readonly elapsedMs: () => number;
}

/** One request that the cache may answer. */
interface Lookup {
  readonly context: FetchContext;
  readonly key: string;
  readonly viewer: ViewerRequest;
  readonly behavior: CacheBehavior;
}

/** Answers from the cache, or else from the origin, whose answer may be cached. An unreachable origin gives 502 or 504. */
export async function cachingFetch(
  context: FetchContext,
  viewer: ViewerRequest,
  behavior: CacheBehavior,
  origin: Origin,
): Promise<Answer> {
  const request = originRequest(viewer, behavior, origin);
  if (viewer.method !== 'GET' && viewer.method !== 'HEAD') return relay(context, viewer, origin, request);

  const key = cacheKey(viewer, behavior, origin);
  const entry = context.cache.get(key);
  const elapsedMs = context.elapsedMs();
  if (entry && elapsedMs < entry.freshUntilMs) {
    return { ...answerFromEntry(entry, viewer, elapsedMs), source: entry.status < 400 ? 'Hit' : 'Error' };
  }
  const isValidating = entry !== undefined && addValidators(request, entry);
  const answer = await relay(context, viewer, origin, request);
  const lookup = { context, key, viewer, behavior };
  if (isValidating && answer.status === 304) return refresh(lookup, entry, answer);
  if (answer.status >= 500 && entry?.status === 200 && isServedOnError(entry.headers, elapsedMs - entry.freshUntilMs)) {
    if (!Buffer.isBuffer(answer.body)) answer.body.resume();
    return { ...answerFromEntry(entry, viewer, elapsedMs), source: 'Hit' };
  }
  return keep(lookup, answer, request.headers.has('range'));
}

async function relay(
  context: FetchContext,
  viewer: ViewerRequest,
  origin: Origin,
  request: OriginRequest,
): Promise<Answer> {
  try {
    const answer: OriginAnswer = await context.client.send(origin, request, viewer.body);
    return { ...answer, source: answer.status < 400 ? 'Miss' : 'Error' };
  } catch (error) {
    const status = error instanceof OriginFailure ? error.status : 502;
    return { ...ownError(status, viewer.id), source: 'Error', failure: describe(error) };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.message}: ${describe(error.cause)}` : error.message;
}

/** Makes a request conditional on the cache entry. @returns false when the entry is an error or has no validator. */
function addValidators(request: OriginRequest, entry: CacheEntry): boolean {
  const etag = header(entry.headers, 'etag');
  const modified = header(entry.headers, 'last-modified');
  if (entry.status !== 200 || (etag === undefined && modified === undefined)) return false;
  // A range that is valid only for the viewer's version cannot be combined with the condition of the cache.
  if (request.headers.has('if-range')) request.headers.delete('range');
  for (const name of ['if-range', 'if-none-match', 'if-modified-since']) request.headers.delete(name);
  if (etag !== undefined) request.headers.set('if-none-match', [etag]);
  else request.headers.set('if-modified-since', [modified as string]);
  return true;
}

/** Refreshes an entry that the origin confirmed by a 304. */
function refresh({ context, key, viewer, behavior }: Lookup, entry: CacheEntry, answer: Answer): Answer {
  if (!Buffer.isBuffer(answer.body)) answer.body.resume();
  const elapsedMs = context.elapsedMs();
  // RFC 9111, 3.2: the fields of a 304 replace the cached ones, except those that describe the body.
  const headers: HeaderMap = new Map(entry.headers);
  for (const [name, values] of answer.headers) {
    if (name !== 'content-length' && name !== 'content-type') headers.set(name, values);
  }
  const seconds = lifetimeSeconds(200, headers, behavior.cachePolicy, context.now());
  const fresh = { ...entry, headers, storedAtMs: elapsedMs, freshUntilMs: elapsedMs + (seconds ?? 0) * 1_000 };
  if (seconds === undefined) context.cache.delete(key);
  else context.cache.set(key, fresh);
  return { ...answerFromEntry(fresh, viewer, elapsedMs), source: 'RefreshHit' };
}

/**
 * Caches an answer when that is allowed and the answer is small.
 * @param isPart  whether the request to the origin had a range.
 */
async function keep({ context, key, viewer, behavior }: Lookup, answer: Answer, isPart: boolean): Promise<Answer> {
  const [now, elapsedMs] = [context.now(), context.elapsedMs()];
  const seconds =
    answer.status < 400
      ? lifetimeSeconds(answer.status, answer.headers, behavior.cachePolicy, now)
      : errorSeconds(context, answer, now);
  const length = Number(header(answer.headers, 'content-length'));
  const isKept = seconds !== undefined && viewer.method === 'GET' && length <= LARGEST_ENTRY_BYTES;
  if (!isKept || (isPart && answer.status < 400)) {
    // The former entry is out of date.
    if (viewer.method === 'GET' && !isPart && answer.status !== 304) context.cache.delete(key);
    return answer;
  }
  const body = Buffer.isBuffer(answer.body) ? answer.body : await buffer(answer.body).catch(() => undefined);
  if (!body) return { ...ownError(502, viewer.id), source: 'Error', failure: 'the origin cut its answer' };
  const entry = {
    status: answer.status,
    headers: answer.headers,
    body,
    storedAtMs: elapsedMs,
    freshUntilMs: elapsedMs + seconds * 1_000,
  };
  context.cache.set(key, entry);
  return { ...answer, ...answerFromEntry(entry, viewer, elapsedMs) };
}

function errorSeconds({ distribution }: FetchContext, { status, headers }: Answer, now: Date): number | undefined {
  const rule = distribution.errorRules.get(status);
  const minTtlSeconds = rule?.cachingMinTtlSeconds ?? DEFAULT_ERROR_CACHING_SECONDS;
  return errorLifetimeSeconds({ status, headers, minTtlSeconds, hasPage: rule?.page !== undefined }, now);
}
