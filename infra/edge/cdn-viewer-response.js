/**
 * Gives each download the Content-Security-Policy of its type, and text its charset. What every download has in common (nosniff, HSTS,
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
  // A 304 names no type: the browser keeps the policy it stored with the body.
  if (response.statusCode === 304) return response;
  const headers = response.headers || {};
  const contentType = headers['content-type'] ? headers['content-type'].value : '';
  headers['content-security-policy'] = { value: MEDIA_TYPE.test(contentType) ? MEDIA : INERT };
  if (TEXT_WITHOUT_CHARSET.test(contentType)) {
    headers['content-type'] = { value: `${contentType.replace(/[\s;]+$/, '')}; charset=utf-8` };
  }
  response.headers = headers;
  return response;
}
