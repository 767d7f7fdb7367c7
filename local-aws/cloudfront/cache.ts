import type { CacheBehavior, Origin } from './distribution.ts';
import { type HeaderMap, header } from './header-map.ts';
import { acceptedEncodings } from './origin-request.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** A cached answer to a GET. */
export interface CacheEntry {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Buffer;
  /** When the origin sent it or last confirmed it, by {@link FetchContext.elapsedMs}. */
  readonly storedAtMs: number;
  readonly freshUntilMs: number;
}

/**
 * Larger objects are not cached, so they are always as fresh as the origin. CloudFront, in contrast, may serve a large object
 * for its lifetime after it was deleted.
 */
export const LARGEST_ENTRY_BYTES = 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;

export interface Cache {
  get(key: string): CacheEntry | undefined;
  set(key: string, entry: CacheEntry): void;
  delete(key: string): void;
}

/** A cache in memory that evicts the least recently used entries. */
export function memoryCache(maxBytes = CACHE_BYTES): Cache {
  const entries = new Map<string, CacheEntry>();
  let bytes = 0;
  const remove = (key: string) => {
    bytes -= entries.get(key)?.body.length ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry) {
        entries.delete(key);
        entries.set(key, entry);
      }
      return entry;
    },
    set(key, entry) {
      remove(key);
      entries.set(key, entry);
      bytes += entry.body.length;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}

/** The cache key of a request: its origin, its path, and the encodings that are cached separately. */
export function cacheKey(viewer: ViewerRequest, { cachePolicy }: CacheBehavior, origin: Origin): string {
  const encodings = acceptedEncodings(header(viewer.headers, 'accept-encoding'), cachePolicy.encodings);
  return JSON.stringify([origin.id, viewer.path, encodings]);
}

/** Answers one request from a cache entry: with all of it, with a part, or with 304 or 416. */
export function answerFromEntry(
  entry: CacheEntry,
  viewer: ViewerRequest,
  elapsedMs: number,
): { status: number; headers: HeaderMap; body: Buffer } {
  const headers: HeaderMap = new Map(entry.headers);
  const ageSeconds = Math.floor((elapsedMs - entry.storedAtMs) / 1_000);
  if (ageSeconds > 0) headers.set('age', [String(ageSeconds)]);
  if (entry.status !== 200) return { status: entry.status, headers, body: entry.body };

  if (isUnchanged(entry, viewer)) {
    headers.delete('content-length');
    headers.delete('content-type');
    return { status: 304, headers, body: Buffer.alloc(0) };
  }
  const range = requestedRange(entry, viewer);
  if (range === undefined) return { status: 200, headers, body: entry.body };
  if (range === 'unsatisfiable') return unsatisfiable(entry);
  const part = entry.body.subarray(range.start, range.end + 1);
  headers.set('content-range', [`bytes ${range.start}-${range.end}/${entry.body.length}`]);
  headers.set('content-length', [String(part.length)]);
  return { status: 206, headers, body: part };
}

/**
 * The cached headers are left out, because they describe the body that is not sent. With their `Cache-Control` a browser could
 * even cache this error and answer the next request for the whole object with it.
 */
function unsatisfiable({ body }: CacheEntry): { status: number; headers: HeaderMap; body: Buffer } {
  const headers: HeaderMap = new Map([
    ['content-range', [`bytes */${body.length}`]],
    ['content-length', ['0']],
  ]);
  return { status: 416, headers, body: Buffer.alloc(0) };
}

/** When there is `If-None-Match`, it decides alone. Source: RFC 9110, 13.2.2. */
function isUnchanged(entry: CacheEntry, viewer: ViewerRequest): boolean {
  const ifNoneMatch = viewer.headers.get('if-none-match')?.join(',');
  if (ifNoneMatch !== undefined) {
    const tag = opaque(header(entry.headers, 'etag') ?? '');
    return ifNoneMatch.trim() === '*' || (tag !== '' && ifNoneMatch.split(',').map(opaque).includes(tag));
  }
  const since = Date.parse(header(viewer.headers, 'if-modified-since') ?? '');
  const modified = Date.parse(header(entry.headers, 'last-modified') ?? '');
  return modified <= since;
}

/** An entity tag without its weakness mark, for weak comparison. */
function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

/** The one range that a request asks for. Several ranges are answered with the whole body, as RFC 9110, 14.2 allows. */
function requestedRange(
  entry: CacheEntry,
  viewer: ViewerRequest,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header(viewer.headers, 'range')?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  const condition = header(viewer.headers, 'if-range');
  const validators = [header(entry.headers, 'etag'), header(entry.headers, 'last-modified')];
  if (condition !== undefined && !validators.includes(condition)) return undefined;

  const size = entry.body.length;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return start > end ? 'unsatisfiable' : { start, end };
}
