/**
 * The viewer-request function of the "cdn" distribution. A link is `/uploads/<token>/<name>`, its object is
 * `uploads/<token>`. The name is only for people, so this function removes it: a link with another name finds the same object
 * and the same cache entry. CloudFront Functions runtime 2.0, like app-viewer-request.js.
 */

/** A token has at least 128 random bits in base62, that is at least 22 characters. */
const LINK = /^(\/uploads\/[0-9A-Za-z]{22,64})(\/[^/]*)?$/;

/** The destinations in which a browser shows a file to a person, as in the viewer-response function. */
const WINDOW = /^(document|iframe|frame|embed|object)$/;

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {import('cloudfront').FunctionRequest | import('cloudfront').FunctionResponse}
 */
function handler(event) {
  const request = event.request;
  const link = LINK.exec(request.uri);
  if (!link) return errorAnswer(event, 404, 'not_found');
  if (request.method === 'OPTIONS') return preflightAnswer(event);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const answer = errorAnswer(event, 405, 'method_not_allowed');
    answer.headers.allow = { value: 'GET, HEAD, OPTIONS' };
    return answer;
  }
  request.uri = link[1];
  // Every query finds the same object and the same cache entry. The viewer-response function still sees `?download`.
  request.querystring = {};
  // The viewer-response function evaluates these two headers. S3 would answer 412 with XML, and CloudFront has no error pages for 412.
  delete request.headers['if-match'];
  delete request.headers['if-unmodified-since'];
  // A window may get text of another type than a page does (see the viewer-response function). So what a browser has for a page, a 304 must
  // not confirm for a window.
  const destination = request.headers['sec-fetch-dest'];
  if (destination && WINDOW.test(destination.value)) {
    delete request.headers['if-none-match'];
    delete request.headers['if-modified-since'];
  }
  return request;
}

/**
 * Pages of every origin may use a link: it is public, and carries no cookie.
 * @param {import('cloudfront').ViewerRequestEvent} event
 */
function preflightAnswer(event) {
  const headers = answerHeaders(event);
  headers['access-control-allow-methods'] = { value: 'GET, HEAD' };
  headers['access-control-allow-headers'] = { value: '*' };
  headers['access-control-max-age'] = { value: '86400' };
  return { statusCode: 204, headers: headers };
}

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @param {number} status
 * @param {string} code
 */
function errorAnswer(event, status, code) {
  const headers = answerHeaders(event);
  headers['content-type'] = { value: 'application/json' };
  return { statusCode: status, headers: headers, body: JSON.stringify({ error: code }) };
}

/**
 * The headers of every answer of this function.
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {Record<string, import('cloudfront').Value>}
 */
function answerHeaders(event) {
  return {
    'access-control-allow-origin': { value: '*' },
    'cache-control': { value: 'no-store' },
    'x-request-id': { value: event.context.requestId },
    'x-content-type-options': { value: 'nosniff' },
    'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
  };
}
