import type { CacheBehavior } from './cache-behaviors.ts';
import { type HeaderMap, header } from './header-map.ts';
import { acceptedEncodings, selects } from './origin-request.ts';
import type { Origin } from './origins.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** An answer to a GET that is kept. */
export interface CacheEntry {
  readonly status: number;
  readonly headers: HeaderMap;
  readonly body: Buffer;
  /** When the origin sent or last confirmed it. */
  readonly storedAt: Date;
  readonly freshUntil: Date;
}

/**
 * Larger objects are not kept in memory: they go straight through, so they are always as fresh as the origin. What this
 * leaves out of CloudFront's behavior is only that it may serve a large object for its lifetime after it was deleted.
 */
export const LARGEST_ENTRY_BYTES = 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;

export interface Cache {
  get(key: string): CacheEntry | undefined;
  set(key: string, entry: CacheEntry): void;
  delete(key: string): void;
}

/** A cache in memory that forgets what was used least recently. */
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

/** What makes two requests ask for the same thing, as the cache policy says. */
export function cacheKey(viewer: ViewerRequest, { cachePolicy }: CacheBehavior, origin: Origin): string {
  const headers = [...viewer.headers].filter(([name]) => selects(cachePolicy.headers, name)).sort();
  const query = viewer.query
    .split('&')
    .filter((parameter) => selects(cachePolicy.queryStrings, parameter.split('=')[0] ?? ''));
  const cookies = (viewer.headers.get('cookie') ?? [])
    .flatMap((line) => line.split(/;\s*/))
    .filter((cookie) => selects(cachePolicy.cookies, cookie.split('=')[0] ?? ''));
  const encodings = acceptedEncodings(header(viewer.headers, 'accept-encoding'), cachePolicy.encodings);
  return JSON.stringify([origin.id, viewer.path, headers, query, cookies.sort(), encodings]);
}
