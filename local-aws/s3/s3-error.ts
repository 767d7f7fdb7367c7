import { renderXml } from './xml.ts';

/** The errors that the S3 server answers with: code, status, and the message of Amazon S3. Source: S3 API, "Error responses". */
const S3_ERRORS = {
  AccessDenied: { status: 403, message: 'Access Denied' },
  AccessForbidden: { status: 403, message: 'CORSResponse: This CORS request is not allowed.' },
  AuthorizationHeaderMalformed: { status: 400, message: 'The authorization header is malformed.' },
  AuthorizationQueryParametersError: { status: 400, message: 'Error parsing the query parameters of the signature.' },
  BadDigest: { status: 400, message: 'The checksum you specified did not match the calculated checksum.' },
  ConditionalRequestConflict: {
    status: 409,
    message: 'The conditional request cannot succeed due to a conflicting operation against this resource.',
  },
  EntityTooLarge: { status: 400, message: 'Your proposed upload exceeds the maximum allowed size' },
  EntityTooSmall: { status: 400, message: 'Your proposed upload is smaller than the minimum allowed size' },
  IncompleteBody: {
    status: 400,
    message: 'The request body terminated unexpectedly or is not what its headers announce.',
  },
  InternalError: { status: 500, message: 'We encountered an internal error. Please try again.' },
  InvalidAccessKeyId: { status: 403, message: 'The AWS Access Key Id you provided does not exist in our records.' },
  InvalidArgument: { status: 400, message: 'Invalid Argument' },
  InvalidChunkSizeError: { status: 403, message: 'Only the last chunk is allowed to have a size less than 8192 bytes' },
  InvalidDigest: { status: 400, message: 'The Content-MD5 you specified was invalid.' },
  InvalidPart: {
    status: 400,
    message:
      'One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part’s entity tag.',
  },
  InvalidPartOrder: {
    status: 400,
    message: 'The list of parts was not in ascending order. Parts must be ordered by part number.',
  },
  InvalidRange: { status: 416, message: 'The requested range is not satisfiable' },
  InvalidRequest: { status: 400, message: 'Invalid Request' },
  InvalidToken: { status: 400, message: 'The provided token is malformed or otherwise invalid.' },
  InvalidURI: { status: 400, message: "Couldn't parse the specified URI." },
  KeyTooLongError: { status: 400, message: 'Your key is too long' },
  MalformedTrailerError: {
    status: 400,
    message: 'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  },
  MalformedXML: {
    status: 400,
    message: 'The XML you provided was not well-formed or did not validate against our published schema',
  },
  MetadataTooLarge: { status: 400, message: 'Your metadata headers exceed the maximum allowed metadata size' },
  MissingContentLength: { status: 411, message: 'You must provide the Content-Length HTTP header.' },
  NoSuchBucket: { status: 404, message: 'The specified bucket does not exist' },
  NoSuchKey: { status: 404, message: 'The specified key does not exist.' },
  NoSuchUpload: {
    status: 404,
    message:
      'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  },
  NotImplemented: {
    status: 501,
    message: 'A header or query you provided implies functionality that is not implemented.',
  },
  PreconditionFailed: { status: 412, message: 'At least one of the pre-conditions you specified did not hold' },
  RequestTimeTooSkewed: {
    status: 403,
    message: 'The difference between the request time and the current time is too large.',
  },
  SignatureDoesNotMatch: {
    status: 403,
    message:
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  },
  SlowDown: { status: 503, message: 'Please reduce your request rate.' },
  XAmzContentSHA256Mismatch: {
    status: 400,
    message: "The provided 'x-amz-content-sha256' header does not match what was computed.",
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type S3ErrorCode = keyof typeof S3_ERRORS;

/** An error answer of S3. `details` become further elements of its XML, and `headers` are sent with it. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: S3ErrorCode,
    options: { message?: string; details?: Record<string, string>; headers?: Record<string, string> } = {},
  ) {
    super(options.message ?? S3_ERRORS[code].message);
    this.name = 'S3Error';
    this.code = code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return S3_ERRORS[this.code].status;
  }

  /** The body of the answer. */
  toXml(requestId: string): string {
    const { code: Code, message: Message, details } = this;
    return renderXml('Error', { Code, Message, ...details, RequestId: requestId }, { namespace: null });
  }
}
