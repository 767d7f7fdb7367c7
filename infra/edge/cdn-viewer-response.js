/**
 * The viewer-response function of the "cdn" distribution. It gives each download the Content-Security-Policy of its type and the headers
 * by which pages of other origins may read it, gives text its charset, shows text of any type in the browser's window, and serves the file as
 * an attachment when the link ends in `?download`. It answers 412 when a precondition of the request is false. The response headers policy of the distribution does what all
 * downloads have in common: nosniff, HSTS, Referrer-Policy and Cross-Origin-Resource-Policy. CloudFront Functions
 * runtime 2.0, like app-viewer-request.js. CloudFront does not run this function for statuses of 400 and above.
 */

/** A browser executes nothing of such a response, and gives its document an origin of its own. */
const INERT = "sandbox; default-src 'none'";

/**
 * A browser shows an image, a sound or a video in a document that it generates. That document has inline styles, and loads the file again
 * from its address. Under {@link INERT} nothing would play.
 */
const MEDIA =
  "sandbox allow-same-origin; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * Safari does not show a PDF in a sandbox, and applies the file's policy to the styles of its own PDF viewer. A script in a PDF cannot
 * leave the viewer, and the site of the links has nothing to steal. Gitea serves PDFs with this policy, from the host of its own pages.
 */
const PDF = "default-src 'none'; style-src 'unsafe-inline'";
const PDF_TYPE = /^\s*application\/pdf\s*(;|$)/i;

/** The pattern has no `+`, so that it does not match `image/svg+xml` or other XML: such documents can execute scripts. */
const MEDIA_TYPE = /^\s*(audio|image|video)\/[a-z0-9!#$&^_.-]+\s*(;|$)/i;

/** The headers that a script of another origin may read, besides those that every script may read, such as `Content-Type`. */
const EXPOSED = 'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag';

/**
 * The headers of S3 and of the policy that a reader gets. Others may show how the file is stored. A function may not remove `Via` and
 * `Warning`.
 */
const FOR_READERS =
  /^(accept-ranges|age|cache-control|content-(disposition|length|range|type)|cross-origin-resource-policy|date|etag|last-modified|referrer-policy|strict-transport-security|via|warning|x-content-type-options)$/;

/** Without a charset a browser guesses one from the user's language. Nearly all text is UTF-8 (decision 0006). */
const TEXT_WITHOUT_CHARSET = /^\s*text\/(?!.*;\s*charset\s*=)/i;

/** The destinations (`Sec-Fetch-Dest`) in which a browser shows a file to a person. */
const WINDOW = /^(document|iframe|frame|embed|object)$/;

/**
 * @param {import('cloudfront').ViewerResponseEvent} event
 * @returns {import('cloudfront').FunctionResponse}
 */
function handler(event) {
  const response = event.response;
  if (isPreconditionFalse(event)) return preconditionFailed(event);
  const headers = response.headers || {};
  response.headers = headers;
  Object.keys(headers).forEach((name) => {
    if (!FOR_READERS.test(name)) delete headers[name];
  });
  // A policy of CloudFront adds this to answers to requests with an `Origin` only. A browser that has stored the file for an `<img>`
  // without CORS gives the same answer to a `fetch` of it, so every answer has it.
  headers['access-control-allow-origin'] = { value: '*' };
  headers['access-control-expose-headers'] = { value: EXPOSED };
  // The browser keeps what it stored with the body: the type, the policy, and the disposition, which may be that of `?download`.
  if (response.statusCode === 304) {
    delete headers['content-disposition'];
    return response;
  }
  const disposition = headers['content-disposition'];
  if (event.request.querystring.download && disposition) {
    disposition.value = disposition.value.replace(/^inline/, 'attachment');
  }
  let contentType = headers['content-type'] ? headers['content-type'].value : '';
  const policy = policyFor(contentType);
  headers['content-security-policy'] = { value: policy };
  // Browsers save a CSV, and more types of text, even when they are told to show it. Programs get the file's own type.
  if (policy === INERT && disposition && disposition.value.startsWith('inline')) {
    headers.vary = { value: 'Sec-Fetch-Dest' };
    const destination = event.request.headers['sec-fetch-dest'];
    if (destination && WINDOW.test(destination.value)) {
      contentType = contentType.replace(/^[^;]*/, 'text/plain');
      // By these a browser would confirm this answer for a script or a style, which needs the file's own type.
      delete headers.etag;
      delete headers['last-modified'];
    }
  }
  if (TEXT_WITHOUT_CHARSET.test(contentType)) contentType = `${contentType.replace(/[\s;]+$/, '')}; charset=utf-8`;
  if (contentType) headers['content-type'] = { value: contentType };
  return response;
}

/** @param {string} contentType */
function policyFor(contentType) {
  if (PDF_TYPE.test(contentType)) return PDF;
  return MEDIA_TYPE.test(contentType) ? MEDIA : INERT;
}

/**
 * Evaluates `If-Match` and `If-Unmodified-Since`, which the viewer-request function removes. `event.request` is the request
 * as the viewer sent it, so it still has them. Sources: RFC 9110, section 13.2.2; CloudFront Developer Guide, "CloudFront
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
  // An invalid date is NaN, so the comparison is false: then there is no precondition.
  return since !== undefined && modified !== undefined && Date.parse(modified.value) > Date.parse(since.value);
}

/**
 * The strong comparison of RFC 9110: a weak tag never matches.
 * @param {string} tags  the value of `If-Match`.
 * @param {import('cloudfront').Value | undefined} etag
 */
function matches(tags, etag) {
  if (tags.trim() === '*') return true;
  return etag !== undefined && tags.split(',').some((tag) => tag.trim() === etag.value);
}

/**
 * Makes the answer that replaces the file. It has none of the file's headers.
 * @param {import('cloudfront').ViewerResponseEvent} event
 * @returns {import('cloudfront').FunctionResponse}
 */
function preconditionFailed(event) {
  return {
    statusCode: 412,
    statusDescription: 'Precondition Failed',
    headers: {
      'access-control-allow-origin': { value: '*' },
      'content-type': { value: 'application/json' },
      'cache-control': { value: 'no-store' },
      'x-request-id': { value: event.context.requestId },
      'x-content-type-options': { value: 'nosniff' },
      'strict-transport-security': { value: 'max-age=63072000; includeSubDomains' },
    },
    body: JSON.stringify({ error: 'invalid_request' }),
  };
}
