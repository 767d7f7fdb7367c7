import type { Transform } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import type { CacheBehavior } from './cache-behaviors.ts';
import { type HeaderMap, header } from './header-map.ts';
import { acceptedEncodings } from './origin-request.ts';
import type { ViewerRequest } from './viewer-request.ts';

/** Bounds and types of what is compressed. Source: CloudFront Developer Guide, "Serve compressed files". */
const MIN_BYTES = 1_000;
const MAX_BYTES = 10_000_000;
const TYPES =
  /^\s*(text\/(css|html|javascript|plain|xml|csv|markdown|x-.+)|application\/(javascript|json|xml|wasm|manifest\+json|.+\+(json|xml))|image\/svg\+xml|font\/(ttf|otf)|image\/x-icon)\s*(;|$)/i;

/**
 * Decides whether the edge compresses an answer; if so, its headers are changed to say so.
 * @returns the compressor for the body; undefined to send it as it is.
 */
export function compressor(
  viewer: ViewerRequest,
  behavior: CacheBehavior,
  answer: { status: number; headers: HeaderMap },
): Transform | undefined {
  const { status, headers } = answer;
  const [encoding] = acceptedEncodings(header(viewer.headers, 'accept-encoding'), behavior.cachePolicy.encodings);
  const length = Number(header(headers, 'content-length'));
  if (!behavior.compress || !encoding || status !== 200 || headers.has('content-encoding')) return undefined;
  if (!(length >= MIN_BYTES && length <= MAX_BYTES) || !TYPES.test(header(headers, 'content-type') ?? ''))
    return undefined;

  headers.delete('content-length');
  headers.set('content-encoding', [encoding]);
  headers.set('vary', [...(headers.get('vary') ?? []), 'accept-encoding']);
  const etag = header(headers, 'etag');
  if (etag && !etag.startsWith('W/')) headers.set('etag', [`W/${etag}`]);
  if (encoding === 'gzip') return createGzip();
  return createBrotliCompress({
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: length },
  });
}
