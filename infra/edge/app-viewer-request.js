/**
 * The door of the "app" distribution (dashboard and API on one origin). It decides which origin gets a body, refuses
 * what no origin can take, and tells the API who the viewer is. CloudFront Functions runtime 2.0: ES 5.1 and the few
 * newer features it documents, no `?.`, `??`, spread, destructuring or `for...of`.
 */
import cf from 'cloudfront';

// Filled in when the stack is synthesized (render.ts); what stands here are the defaults.
const MAX_UPLOAD_SIZE_BYTES = 104857600;
const MULTIPART_FRAMING_MAX_BYTES = 1048576;
const INLINE_BODY_MAX_BYTES = 4194304;
const STREAMING_UPLOADS = true;
const DASHBOARD_FILES = 'index.html';

/**
 * The gateway takes 10,240 bytes of request line and headers, the streaming origin about as many, and what they answer to
 * more is not ours to word. 1 KiB is for what CloudFront adds. Counted as JSON, whose punctuation is more than HTTP's.
 */
const HEAD_MAX_BYTES = 9216;

/**
 * A path that is longer is no route. The longest route has 59 characters, 177 if each of them is percent-encoded. The
 * runtime ends a function that computes for longer than about a millisecond, so thousands of escapes must not be decoded.
 */
const PATH_MAX_LENGTH = 512;

/** Status of each error this function answers with; the codes are those of shared/errors.ts. */
const ERRORS = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  length_required: 411,
  file_too_large: 413,
  unsupported_media_type: 415,
};

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {import('cloudfront').FunctionRequest | import('cloudfront').FunctionResponse}
 */
function handler(event) {
  const request = event.request;
  if (JSON.stringify(request).length > HEAD_MAX_BYTES) return errorAnswer(event, 'invalid_request');
  // The API believes `x-viewer-address` only beside `x-origin-secret`, which CloudFront adds, as it adds the key of the
  // gateway; a viewer may set none of them.
  request.headers['x-viewer-address'] = { value: event.viewer.ip };
  delete request.headers['x-origin-secret'];
  delete request.headers['x-api-key'];
  // API Gateway obeys it: a request would be counted and checked here by another method than it is answered by.
  delete request.headers['x-http-method-override'];

  const path = canonicalPath(request.uri);
  if (path === '') return errorAnswer(event, 'not_found');
  request.uri = path;

  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (path === '/' && reads) return redirectToDashboard(event);
  // The cache behavior of the dashboard takes every path that starts so, and its origin answers strangers with XML.
  if (path.indexOf('/dashboard') === 0) {
    if (!/^\/dashboard(\/|$)/.test(path)) return errorAnswer(event, 'not_found');
    if (!reads) return errorAnswer(event, 'method_not_allowed', { allow: 'GET, HEAD' });
    if (path === '/dashboard') return redirectToDashboard(event);
    const file = dashboardFile(path);
    if (file === '') return errorAnswer(event, 'not_found');
    request.uri = file;
    return request;
  }
  // The path of the cache behavior by which the streaming origin is there; nobody gets there past the checks of an upload.
  if (path === '/upload-stream-origin') return errorAnswer(event, 'not_found');
  request.querystring = withoutSemicolons(request.querystring);
  return routeBody(event);
}

/**
 * The one spelling of a path: percent-encoded letters, digits and `-._~` mean themselves (RFC 3986, 6.2.2.2), so they are
 * decoded. Empty and dot segments, which CloudFront, the gateway and S3 each read in their own way, are no route of ours.
 * @param {string} uri
 * @returns {string} '' when the path has no canonical spelling.
 */
function canonicalPath(uri) {
  if (uri.length > PATH_MAX_LENGTH) return '';
  const path = uri.replace(/%[0-9A-Fa-f]{2}/g, decodeUnreserved);
  if (path.charAt(0) !== '/') return '';
  if (path.indexOf('//') !== -1 || /\/\.\.?(\/|$)/.test(path)) return '';
  const trailingSlash = path.length > 1 && path.charAt(path.length - 1) === '/';
  return trailingSlash && path.indexOf('/dashboard/') !== 0 ? '' : path;
}

/** @param {string} encoded  `%xx` */
function decodeUnreserved(encoded) {
  const character = String.fromCharCode(parseInt(encoded.slice(1), 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : encoded;
}

/**
 * API Gateway splits a query at `;` as well as at `&`, so a `;` goes on percent-encoded and stays part of its name or value.
 * Source: API Gateway Developer Guide, "Important notes" (REST APIs).
 * @param {Record<string, import('cloudfront').Value>} query
 * @returns {Record<string, import('cloudfront').Value>}
 */
function withoutSemicolons(query) {
  return JSON.parse(JSON.stringify(query).replace(/;/g, '%3B'));
}

/**
 * The dashboard is one page: a path whose last segment has no extension is one of its views. A file that does not exist is
 * not asked for: the bucket would answer with XML. Of the assets no list is kept, since a page from before an upgrade asks
 * for those of its own.
 * @param {string} path
 * @returns {string} its path in the bucket, '' when there is no such file.
 */
function dashboardFile(path) {
  const lastSegment = path.slice(path.lastIndexOf('/') + 1);
  if (lastSegment.indexOf('.') === -1) return '/dashboard/index.html';
  const file = path.slice('/dashboard/'.length);
  if (/^assets\/[\w.-]+-[\w-]{8}\.(css|js|svg|woff2)$/.test(file)) return `/${file}`;
  return DASHBOARD_FILES.split('|').indexOf(file) === -1 ? '' : path;
}

/**
 * Sends a multipart upload that the gateway cannot carry to the streaming origin, and refuses every other body that the
 * gateway or a Lambda event cannot carry. Smaller ones go on, so that the API checks in its order: route, credential,
 * rate limit, then the body.
 * @param {import('cloudfront').ViewerRequestEvent} event
 */
function routeBody(event) {
  const request = event.request;
  const headers = request.headers;
  // With both headers the length is not to be believed (RFC 9112, 6.3): the body is as long as its chunks.
  const chunked = headers['transfer-encoding'] !== undefined;
  const contentLength = chunked ? undefined : headers['content-length'];
  if (contentLength && !/^[0-9]+$/.test(contentLength.value)) return errorAnswer(event, 'invalid_request');
  const length = contentLength ? Number(contentLength.value) : undefined;

  if (STREAMING_UPLOADS && isMultipartUpload(request)) {
    const longest = MAX_UPLOAD_SIZE_BYTES + MULTIPART_FRAMING_MAX_BYTES;
    if (length !== undefined && length > longest) return refuseBody(event, 'file_too_large');
    if (length !== undefined && length <= INLINE_BODY_MAX_BYTES) return request;
    // A place of the streaming server is worth more than a function's: nobody gets one without what looks like a credential.
    if (!hasWellFormedCredential(request)) return errorAnswer(event, 'unauthorized');
    cf.selectRequestOriginById('upload-stream');
    return request;
  }
  if (chunked) return refuseBody(event, 'length_required');
  if (length === undefined || length <= INLINE_BODY_MAX_BYTES) return request;
  // Whoever sends a file as the body itself is not over any limit: it has to be a form.
  return refuseBody(event, isUpload(request) && !isTaken(request) ? 'unsupported_media_type' : 'file_too_large');
}

/** @param {import('cloudfront').FunctionRequest} request */
function isMultipartUpload(request) {
  return isUpload(request) && isForm(request);
}

/** @param {import('cloudfront').FunctionRequest} request */
function isUpload(request) {
  return request.method === 'POST' && request.uri === '/api/v1/files';
}

/**
 * True for the types an upload may come as: a form, or the JSON that asks for a ticket.
 * @param {import('cloudfront').FunctionRequest} request
 */
function isTaken(request) {
  const contentType = request.headers['content-type'];
  return isForm(request) || (contentType !== undefined && /^\s*application\/json\s*(;|$)/i.test(contentType.value));
}

/** @param {import('cloudfront').FunctionRequest} request */
function isForm(request) {
  const contentType = request.headers['content-type'];
  return contentType !== undefined && /^\s*multipart\/form-data\s*(;|$)/i.test(contentType.value);
}

/**
 * What must not reach an origin is refused here, in the service's order as far as the edge can tell: a path outside the
 * API is unknown, a request without any credential is unauthorized, and only then is its body too long.
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @param {'length_required' | 'file_too_large' | 'unsupported_media_type'} code
 */
function refuseBody(event, code) {
  const request = event.request;
  if (request.uri.indexOf('/api/v1/') !== 0) return errorAnswer(event, 'not_found');
  return errorAnswer(event, hasCredential(request) ? code : 'unauthorized');
}

/**
 * True when the request carries a credential, good or bad.
 * @param {import('cloudfront').FunctionRequest} request
 */
function hasCredential(request) {
  return request.headers.authorization !== undefined || sessionCookies(request).length > 0;
}

/**
 * True when the credential has the form of a key or a session token (shared/api-keys/key-format.ts, shared/sessions); a key
 * goes before a cookie there, too. Of several session cookies one in the right form is enough: the API decides.
 * @param {import('cloudfront').FunctionRequest} request
 */
function hasWellFormedCredential(request) {
  const authorization = request.headers.authorization;
  if (authorization !== undefined) return /^bearer +svc_(live|test)_[0-9A-Za-z]{49}$/i.test(authorization.value);
  return sessionCookies(request).some((cookie) => /^[0-9A-Za-z]{22,64}$/.test(cookie.value));
}

/**
 * Every cookie that may be the session. Which of the two names is ours depends on the app's address, which is not known
 * here; a neighbour in the domain can plant a cookie of the other name, and several of the same.
 * @param {import('cloudfront').FunctionRequest} request
 * @returns {import('cloudfront').Value[]}
 */
function sessionCookies(request) {
  /** @type {import('cloudfront').Value[]} */
  const none = [];
  const cookies = [request.cookies.session, request.cookies['__Host-session']];
  return cookies.reduce((found, cookie) => (cookie ? found.concat(cookie.multiValue || [cookie]) : found), none);
}

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @param {keyof typeof ERRORS} code
 * @param {{ allow: string }} [extra]
 * @returns {import('cloudfront').FunctionResponse}
 */
function errorAnswer(event, code, extra) {
  const headers = answerHeaders(event);
  headers['content-type'] = { value: 'application/json' };
  if (extra) headers.allow = { value: extra.allow };
  return { statusCode: ERRORS[code], headers: headers, body: JSON.stringify({ error: code }) };
}

/**
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {import('cloudfront').FunctionResponse}
 */
function redirectToDashboard(event) {
  const headers = answerHeaders(event);
  headers.location = { value: '/dashboard/' };
  return { statusCode: 302, headers: headers };
}

/**
 * Every header of an answer is set here: whether a response headers policy applies to it is not documented.
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {Record<string, import('cloudfront').Value>}
 */
function answerHeaders(event) {
  return {
    'cache-control': { value: 'no-store' },
    'x-request-id': { value: event.context.requestId },
    'x-content-type-options': { value: 'nosniff' },
    'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
  };
}
