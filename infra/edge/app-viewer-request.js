/**
 * The viewer-request function of the "app" distribution (dashboard and API on one host). It selects the origin by the body, rejects
 * requests that no origin can take, and tells the API the viewer's address. It is written for CloudFront Functions runtime 2.0: ES 5.1 and
 * the few newer features that CloudFront documents; no `?.`, `??`, spread, destructuring or `for...of`.
 */
import cf from 'cloudfront';

// Filled in when the stack is synthesized (render.ts); these are examples.
const MAX_UPLOAD_SIZE_BYTES = 104857600;
const MULTIPART_FRAMING_MAX_BYTES = 1048576;
const INLINE_BODY_MAX_BYTES = 4194304;
const STREAMING_UPLOADS = true;
const DASHBOARD_FILES = 'index.html';
const OPENAPI_PATH = '/api/v1/openapi.json';
const TEXTS = '/llms.txt';

/**
 * The gateway takes 10,240 bytes of request line and headers, the streaming origin about as many; they answer larger heads with errors
 * of their own. 1 KiB is left for what CloudFront adds. The size is counted as JSON, which is longer than HTTP.
 */
const HEAD_MAX_BYTES = 9216;

/**
 * No route has a longer path: the longest has 61 characters, 183 if all are percent-encoded. The runtime ends a function after about a
 * millisecond of computing, so this function must not decode thousands of escapes.
 */
const PATH_MAX_LENGTH = 512;

/** The status of each error that this function answers with; the codes are those of shared/errors.ts. */
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
  // The API trusts `x-viewer-address` only together with `x-origin-secret`. CloudFront adds that secret and the gateway's
  // key after this function; a viewer must not be able to set any of the three.
  request.headers['x-viewer-address'] = { value: event.viewer.ip };
  // The origin gets its own name in `Host`. The login must know which name the browser has used, because cookies belong to a name.
  request.headers['x-viewer-host'] = request.headers.host;
  delete request.headers['x-origin-secret'];
  delete request.headers['x-api-key'];
  // API Gateway obeys this header. If it stayed, this function would check a request as one method, and the API would handle it as
  // another.
  delete request.headers['x-http-method-override'];

  const path = canonicalPath(request.uri);
  if (path === '') return errorAnswer(event, 'not_found');
  request.uri = path;

  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (path === '/' && reads) return redirectToDashboard(event);
  // The dashboard's cache behavior matches every path that starts with this text, and its origin answers unknown paths with XML.
  if (path.indexOf('/dashboard') === 0) {
    if (!/^\/dashboard(\/|$)/.test(path)) return errorAnswer(event, 'not_found');
    if (!reads) return errorAnswer(event, 'method_not_allowed', { allow: 'GET, HEAD' });
    if (path === '/dashboard') return redirectToDashboard(event);
    const file = dashboardFile(path);
    if (file === '') return errorAnswer(event, 'not_found');
    request.uri = file;
    return request;
  }
  // These paths are static files. No function of the API is behind them to refuse other methods.
  const isText = TEXTS.split('|').indexOf(path) !== -1;
  if (path === OPENAPI_PATH || isText) {
    if (!reads) return errorAnswer(event, 'method_not_allowed', { allow: 'GET, HEAD' });
    // In the bucket all texts are in one folder.
    if (isText) request.uri = `/texts${path.slice(path.lastIndexOf('/'))}`;
    return request;
  }
  // A distribution has an origin only if a path leads to it, so the streaming origin has this path. A request to this path would bypass the
  // checks of an upload.
  if (path === '/upload-stream-origin') return errorAnswer(event, 'not_found');
  request.querystring = withoutSemicolons(request.querystring);
  return routeBody(event);
}

/**
 * Makes the canonical form of a path: percent-encoded letters, digits and `-._~` are decoded (RFC 3986, 6.2.2.2). Paths with
 * empty or dot segments are rejected, because CloudFront, the gateway and S3 each interpret them differently. So are paths with a `%` that
 * begins no escape: the path `/%2%65` would become `/%2e`, which the next server decodes again.
 * @param {string} uri
 * @returns {string} '' when the path has no canonical form.
 */
function canonicalPath(uri) {
  if (uri.length > PATH_MAX_LENGTH || /%(?![0-9A-Fa-f]{2})/.test(uri)) return '';
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
 * Percent-encodes each `;` in a query, so that it stays part of its name or value: API Gateway splits a query at `;`, too.
 * Source: API Gateway Developer Guide, "Important notes" (REST APIs).
 * @param {Record<string, import('cloudfront').Value>} query
 * @returns {Record<string, import('cloudfront').Value>}
 */
function withoutSemicolons(query) {
  return JSON.parse(JSON.stringify(query).replace(/;/g, '%3B'));
}

/**
 * Maps a path of the dashboard to a file. The dashboard is one page: a path whose last segment has no extension is one of its views. This
 * function rejects unknown files, because the bucket would answer with XML. It has no list of the assets, because a page that was loaded
 * before an upgrade asks for older assets.
 * @param {string} path
 * @returns {string} the file's path in the bucket, '' when there is no such file.
 */
function dashboardFile(path) {
  const lastSegment = path.slice(path.lastIndexOf('/') + 1);
  if (lastSegment.indexOf('.') === -1) return '/dashboard/index.html';
  const file = path.slice('/dashboard/'.length);
  if (/^assets\/[\w.-]+-[\w-]{8}\.(css|js|svg|woff2)$/.test(file)) return `/${file}`;
  return DASHBOARD_FILES.split('|').indexOf(file) === -1 ? '' : path;
}

/**
 * Routes a multipart upload that is too large for the gateway, or of unknown length, to the streaming origin. Rejects every other body that
 * is too large for the gateway or a Lambda event. Smaller bodies go to the API, which checks in its own order: route, credential, rate
 * limit, body.
 * @param {import('cloudfront').ViewerRequestEvent} event
 */
function routeBody(event) {
  const request = event.request;
  const headers = request.headers;
  // If a request has both `Transfer-Encoding` and `Content-Length`, the length is ignored (RFC 9112, 6.3): the body is as long as its
  // chunks.
  const chunked = headers['transfer-encoding'] !== undefined;
  const contentLength = chunked ? undefined : headers['content-length'];
  if (contentLength && !/^[0-9]+$/.test(contentLength.value)) return errorAnswer(event, 'invalid_request');
  const length = contentLength ? Number(contentLength.value) : undefined;

  if (STREAMING_UPLOADS && isMultipartUpload(request)) {
    const longest = MAX_UPLOAD_SIZE_BYTES + MULTIPART_FRAMING_MAX_BYTES;
    if (length !== undefined && length > longest) return rejectBody(event, 'file_too_large');
    if (length !== undefined && length <= INLINE_BODY_MAX_BYTES) return request;
    // The streaming server has few places: a request without a well-formed credential does not get one.
    if (!hasWellFormedCredential(request)) return errorAnswer(event, 'unauthorized');
    cf.selectRequestOriginById('upload-stream');
    return request;
  }
  if (chunked) return rejectBody(event, 'length_required');
  if (length === undefined || length <= INLINE_BODY_MAX_BYTES) return request;
  // Some clients send a file as the body itself, without a form. For them the error names the type of the body, whatever the size of the
  // file.
  return rejectBody(event, isUpload(request) && !isForm(request) ? 'unsupported_media_type' : 'file_too_large');
}

/** @param {import('cloudfront').FunctionRequest} request */
function isMultipartUpload(request) {
  return isUpload(request) && isForm(request);
}

/** @param {import('cloudfront').FunctionRequest} request */
function isUpload(request) {
  return request.method === 'POST' && request.uri === '/api/v1/files';
}

/** @param {import('cloudfront').FunctionRequest} request */
function isForm(request) {
  const contentType = request.headers['content-type'];
  return contentType !== undefined && /^\s*multipart\/form-data\s*(;|$)/i.test(contentType.value);
}

/**
 * Rejects a body in the API's order of checks, as far as the edge can tell. First, a path outside the API is not found. Then a request
 * without a credential is unauthorized. Only then is the body at fault.
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @param {'length_required' | 'file_too_large' | 'unsupported_media_type'} code
 */
function rejectBody(event, code) {
  const request = event.request;
  if (request.uri.indexOf('/api/v1/') !== 0) return errorAnswer(event, 'not_found');
  return errorAnswer(event, hasCredential(request) ? code : 'unauthorized');
}

/**
 * True when the request has a credential, valid or not.
 * @param {import('cloudfront').FunctionRequest} request
 */
function hasCredential(request) {
  return request.headers.authorization !== undefined || sessionCookies(request).length > 0;
}

/**
 * True when the credential could be a key or a session token (shared/api-keys/key-format.ts, shared/sessions). As in the API, a key takes
 * precedence over a cookie. If there are several session cookies, one that is well-formed is enough: the API decides.
 * @param {import('cloudfront').FunctionRequest} request
 */
function hasWellFormedCredential(request) {
  const authorization = request.headers.authorization;
  if (authorization !== undefined) return /^bearer +svc_(live|test)_[0-9A-Za-z]{49}$/i.test(authorization.value);
  return sessionCookies(request).some((cookie) => /^[0-9A-Za-z]{22,64}$/.test(cookie.value));
}

/**
 * All cookies that may be the session. Which of the two names is ours depends on the app's address, which this function does
 * not know. Another host of the same domain can set a cookie with the other name, and several with the same name.
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
 * The headers of every answer of this function. It is not documented whether a response headers policy applies to such an answer, so all
 * headers are set here.
 * @param {import('cloudfront').ViewerRequestEvent} event
 * @returns {Record<string, import('cloudfront').Value>}
 */
function answerHeaders(event) {
  return {
    'cache-control': { value: 'no-store' },
    'x-request-id': { value: event.context.requestId },
    'x-content-type-options': { value: 'nosniff' },
    'content-security-policy': { value: "default-src 'none'; base-uri 'none'; frame-ancestors 'none'" },
    'cross-origin-resource-policy': { value: 'same-origin' },
    'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
  };
}
