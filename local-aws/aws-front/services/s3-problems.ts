import { S3Error, type S3ErrorCode } from '../../s3/s3-error.ts';
import { Problem, type ProblemKind } from '../problem.ts';

/** How S3 words a refusal that comes before it. Source: S3 API, "Error responses"; "Authenticating requests". */
const PROBLEMS: Record<ProblemKind, readonly [code: S3ErrorCode, message?: string]> = {
  'access-denied': ['AccessDenied'],
  'expired-token': ['ExpiredToken'],
  'expired-url': ['AccessDenied', 'Request has expired'],
  'incomplete-signature': ['AuthorizationHeaderMalformed'],
  'internal-error': ['InternalError'],
  'invalid-token': ['InvalidToken'],
  'malformed-query-signature': ['AuthorizationQueryParametersError'],
  'missing-signature': ['AccessDenied'],
  'payload-hash-missing': ['InvalidRequest', 'Missing required header for this request: x-amz-content-sha256'],
  'payload-mismatch': ['XAmzContentSHA256Mismatch'],
  'signature-mismatch': ['SignatureDoesNotMatch'],
  throttled: ['SlowDown'],
  'time-skewed': ['RequestTimeTooSkewed'],
  'two-signatures': [
    'InvalidArgument',
    'Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified',
  ],
  'unknown-access-key': ['InvalidAccessKeyId'],
  'unknown-operation': ['NotImplemented'],
  'unsigned-header': ['AccessDenied', 'There were headers present in the request which were not signed'],
  'unsupported-signature': ['InvalidArgument', 'Unsupported Authorization Type'],
  'wrong-scope': ['AuthorizationHeaderMalformed'],
};

/** What an answer names besides code and message. */
const DETAILS: Partial<Record<ProblemKind, string>> = {
  'signature-mismatch': 'CanonicalRequest',
  'unsigned-header': 'HeadersNotSigned',
  'wrong-scope': 'Reason',
};

export function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  const { kind, message: detail } = error instanceof Problem ? error : new Problem('internal-error');
  const [code, words] = PROBLEMS[kind];
  const message = kind === 'access-denied' && detail ? detail : words;
  const element = DETAILS[kind];
  return new S3Error(code, {
    ...(message !== undefined && { message }),
    ...(element !== undefined && detail !== '' && { details: { [element]: detail } }),
  });
}
