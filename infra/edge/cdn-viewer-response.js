/**
 * Gives each download the Content-Security-Policy of its type, and text its charset; answers 412 when a precondition of the
 * request is false. What every download has in common (nosniff, HSTS,
 * Cross-Origin-Resource-Policy, removed metadata) is in the response headers policy of the stack. CloudFront Functions
 * runtime 2.0, as app-viewer-request.js. CloudFront does not run it for answers of 400 and above.
 */

/** A browser runs nothing of such a response, and the document it makes of it belongs to no site. */
const INERT = "sandbox; default-src 'none'";

/**
 * A browser shows an image, a sound or a video in a document of its own making, which loads the file from its own address
 * and styles it: under {@link INERT} nothing plays.
 */
const MEDIA =
  "sandbox allow-same-origin; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * Safari shows no PDF in a sandbox, and styles its viewer within the policy of the file; a script in a PDF cannot leave the
 * viewer (decision 0019).
 */
const PDF = "default-src 'none'; style-src 'unsafe-inline'";
const PDF_TYPE = /^\s*application\/pdf\s*(;|$)/i;

/** No `+`, so no `image/svg+xml` nor any other XML: that is a document, not a picture. */
const MEDIA_TYPE = /^\s*(audio|image|video)\/[a-z0-9!#$&^_.-]+\s*(;|$)/i;

/** Without a charset a browser guesses one by the language of its user; nearly all text is UTF-8 (decision 0006). */
const TEXT_WITHOUT_CHARSET = /^\s*text\/(?!.*;\s*charset\s*=)/i;

/**
 * @param {import('cloudfront').ViewerResponseEvent} event
 * @returns {import('cloudfront').FunctionResponse}
 */
function handler(event) {
  const response = event.response;
  if (isPreconditionFalse(event)) return preconditionFailed(event);
  // A 304 names no type: the browser keeps the policy it stored with the body.
  if (response.statusCode === 304) return response;
  const headers = response.headers || {};
  const contentType = headers['content-type'] ? headers['content-type'].value : '';
  headers['content-security-policy'] = { value: policyFor(contentType) };
  if (TEXT_WITHOUT_CHARSET.test(contentType)) {
    headers['content-type'] = { value: `${contentType.replace(/[\s;]+$/, '')}; charset=utf-8` };
  }
  response.headers = headers;
  return response;
}

/** @param {string} contentType */
function policyFor(contentType) {
  if (PDF_TYPE.test(contentType)) return PDF;
  return MEDIA_TYPE.test(contentType) ? MEDIA : INERT;
}

/**
 * `If-Match` and `If-Unmodified-Since`, which the viewer-request function keeps from S3. `event.request` is the request as it
 * came from the viewer, so they are still there. Sources: RFC 9110, section 13.2.2; CloudFront Developer Guide, "CloudFront
 * Functions event structure".
 * @param {import('cloudfront').ViewerResponseEvent} event
 */
function isPreconditionFalse(event) {
  const asked = event.request.headers;
  const current = event.response.headers || {};
  const tags = asked['if-match'];
  if (tags) return !(tags.multiValue || [tags]).some((line) => matches(line.value, current.etag));
  const since = asked['if-unmodified-since'];
  const modified = current['last-modified'];
  // A date that is none compares as false with any other: then there is no precondition.
  return since !== undefined && modified !== undefined && Date.parse(modified.value) > Date.parse(since.value);
}

/**
 * The strong comparison: a weak tag matches nothing.
 * @param {string} tags  the value of `If-Match`.
 * @param {import('cloudfront').Value | undefined} etag
 */
function matches(tags, etag) {
  if (tags.trim() === '*') return true;
  return etag !== undefined && tags.split(',').some((tag) => tag.trim() === etag.value);
}

/**
 * In place of the file: nothing of its headers, and the code for what a client should not have asked.
 * @param {import('cloudfront').ViewerResponseEvent} event
 * @returns {import('cloudfront').FunctionResponse}
 */
function preconditionFailed(event) {
  return {
    statusCode: 412,
    statusDescription: 'Precondition Failed',
    headers: {
      'content-type': { value: 'application/json' },
      'cache-control': { value: 'no-store' },
      'x-request-id': { value: event.context.requestId },
      'x-content-type-options': { value: 'nosniff' },
      'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
    },
    body: JSON.stringify({ error: 'invalid_request' }),
  };
}
