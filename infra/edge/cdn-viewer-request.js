/**
 * The door of the "cdn" distribution. A link is `/uploads/<token>/<name>`, the object is `uploads/<token>`: the name is for
 * people and is dropped here, so a renamed link finds the same object and the same cache entry. CloudFront Functions
 * runtime 2.0, as app-viewer-request.js.
 */

/** A token holds 128 random bits or more in base62: 22 characters at least. */
const LINK = /^(\/uploads\/[0-9A-Za-z]{22,64})(\/[^/]*)?$/;

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {import('cloudfront').FunctionRequest | import('cloudfront').FunctionResponse}
 */
function handler(event) {
  const request = event.request;
  const link = LINK.exec(request.uri);
  if (!link) return errorAnswer(event, 404, 'not_found');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const answer = errorAnswer(event, 405, 'method_not_allowed');
    answer.headers.allow = { value: 'GET, HEAD' };
    return answer;
  }
  request.uri = link[1];
  request.querystring = {};
  // The viewer-response function decides them: to a false one S3 answers 412 with XML, for which there can be no error page.
  delete request.headers['if-match'];
  delete request.headers['if-unmodified-since'];
  return request;
}

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @param {number} status
 * @param {string} code
 */
function errorAnswer(event, status, code) {
  /** @type {Record<string, import('cloudfront').Value>} */
  const headers = {
    'content-type': { value: 'application/json' },
    'cache-control': { value: 'no-store' },
    'x-request-id': { value: event.context.requestId },
    'x-content-type-options': { value: 'nosniff' },
    'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
  };
  return { statusCode: status, headers: headers, body: JSON.stringify({ error: code }) };
}
