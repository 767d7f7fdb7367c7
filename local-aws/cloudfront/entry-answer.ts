import type { CacheEntry } from './cache.ts';
import { type HeaderMap, header } from './header-map.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** What a kept answer becomes for one request: whole, a part, or "not modified". */
export function answerFromEntry(
  entry: CacheEntry,
  viewer: ViewerRequest,
  now: Date,
): { status: number; headers: HeaderMap; body: Buffer } {
  const headers: HeaderMap = new Map(entry.headers);
  const ageSeconds = Math.floor((now.getTime() - entry.storedAt.getTime()) / 1_000);
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
 * The kept headers describe the body that is not sent. Their `Cache-Control` would even let a browser keep this error, and
 * answer the next request for the whole with it.
 */
function unsatisfiable({ body }: CacheEntry): { status: number; headers: HeaderMap; body: Buffer } {
  const headers: HeaderMap = new Map([
    ['content-range', [`bytes */${body.length}`]],
    ['content-length', ['0']],
  ]);
  return { status: 416, headers, body: Buffer.alloc(0) };
}

/** RFC 9110, 13.2.2: `If-None-Match` decides alone where it is present. */
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

/** An entity tag without its weakness, for weak comparison. */
function opaque(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

/** One range of the body; several at once are answered with the whole, as RFC 9110, 14.2 allows. */
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
