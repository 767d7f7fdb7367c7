import { randomUUID } from 'node:crypto';
import { copySource } from '../s3/copy-object.ts';
import { type CorsRule, corsHeaders } from '../s3/cors.ts';
import { recogniseOperation, type S3Operation, type S3Target, splitUrl } from '../s3/operation.ts';
import { S3Error, type S3ErrorCode } from '../s3/s3-error.ts';
import type { S3Server } from '../s3/s3-server.ts';
import type { Identity, Signed } from './authenticate.ts';
import type { Gate } from './gate.ts';
import type { Message } from './message.ts';
import type { Permission } from './policy-evaluator.ts';
import { Problem, type ProblemKind } from './problem.ts';
import type { Call, Protocol } from './protocol.ts';
import { s3Content, s3PayloadHash } from './s3-payload.ts';

interface S3ProtocolParts {
  readonly server: S3Server;
  readonly gate: Gate;
  /** The CORS rules of the buckets, by name of the bucket. */
  readonly corsRules: ReadonlyMap<string, readonly CorsRule[]>;
  /** Called with errors that are not an answer of S3. */
  readonly onUnexpected: (error: unknown) => void;
}

/** S3: turns a signed request into a request of the server that keeps the objects. */
export function s3Protocol(parts: S3ProtocolParts): Protocol {
  const crossOrigin = (message: Message) =>
    corsHeaders(parts.corsRules.get(bucketOf(pathStyleUrl(message))) ?? [], message.method, message.headers);

  return {
    clockSkewSeconds: 15 * 60,
    async open(message) {
      return {
        payloadHash: ({ place }) => s3PayloadHash(message, place),
        interpret: (identity) => interpret(parts, message, identity),
      };
    },
    preflight(message) {
      const headers = crossOrigin(message);
      if (!headers) throw new S3Error('AccessForbidden');
      return { status: 200, headers };
    },
    complete(message, { headers, ...reply }) {
      const isXml = typeof reply.body === 'string';
      const own = {
        server: 'AmazonS3',
        'x-amz-request-id': randomUUID(),
        'x-amz-id-2': randomUUID(),
        ...(isXml && { 'content-type': 'application/xml' }),
      };
      return { ...reply, headers: { ...own, ...headers, ...crossOrigin(message) } };
    },
    renderError(error) {
      if (!(error instanceof Problem || error instanceof S3Error)) parts.onUnexpected(error);
      const s3Error = toS3Error(error);
      return { status: s3Error.status, headers: s3Error.headers, body: s3Error.toXml(randomUUID()) };
    },
  };
}

function interpret({ server, gate }: S3ProtocolParts, message: Message, { caller, signed }: Identity): Call {
  const headers = signed?.place === 'query' ? withMetadataOf(message) : message.headers;
  const target = recogniseOperation(message.method, pathStyleUrl(message), headers);
  const { operation, bucket, key } = target;
  if (!server.hasBucket(bucket)) throw new S3Error('NoSuchBucket', { details: { BucketName: bucket } });
  const content = s3Content(message, signed?.payloadHash ?? 'UNSIGNED-PAYLOAD');
  const mayList = (name: string) => gate.allows(caller, bucketPermission('s3:ListBucket', name));
  return {
    service: 's3',
    operation,
    tables: [],
    bucket,
    key,
    permissions: s3Permissions(target, message, signed),
    perform: () => server.handle({ ...target, headers, ...content, mayList }),
    throttled: () => new S3Error('SlowDown'),
    ...((headers['if-match'] ?? headers['if-none-match']) !== undefined &&
      message.method === 'PUT' && { conflict: () => new S3Error('ConditionalRequestConflict') }),
  };
}

/** The URL with the bucket in its path, as the SDKs send it here. CloudFront names the bucket by the host instead. */
function pathStyleUrl({ url, headers }: Message): string {
  const bucket = /^(.+)\.s3\.[a-z0-9-]+\.amazonaws\.com$/.exec(headers.host ?? '')?.[1];
  return bucket === undefined ? url : `/${bucket}${url}`;
}

/** The bucket of a path-style URL, which may be malformed. */
const bucketOf = (url: string) => /^\/([^/?]*)/.exec(url)?.[1] ?? '';

/**
 * SDKs move the metadata of a presigned upload from the headers to the query, where S3 accepts it. S3 ignores checksums that
 * were moved with the metadata, and so does this server.
 */
function withMetadataOf({ url, headers }: Message): Message['headers'] {
  const metadata = [...splitUrl(url).query].filter(([name]) => name.toLowerCase().startsWith('x-amz-meta-'));
  return { ...Object.fromEntries(metadata.map(([name, value]) => [name.toLowerCase(), value])), ...headers };
}

/** The action of each operation, and whether it is on the bucket or on an object. Source: S3 service authorization. */
const ACTIONS: Record<S3Operation, readonly [action: string, on: 'bucket' | 'object']> = {
  HeadBucket: ['s3:ListBucket', 'bucket'],
  ListObjectsV2: ['s3:ListBucket', 'bucket'],
  ListMultipartUploads: ['s3:ListBucketMultipartUploads', 'bucket'],
  CreateMultipartUpload: ['s3:PutObject', 'object'],
  UploadPart: ['s3:PutObject', 'object'],
  UploadPartCopy: ['s3:PutObject', 'object'],
  CompleteMultipartUpload: ['s3:PutObject', 'object'],
  AbortMultipartUpload: ['s3:AbortMultipartUpload', 'object'],
  CopyObject: ['s3:PutObject', 'object'],
  PutObject: ['s3:PutObject', 'object'],
  GetObject: ['s3:GetObject', 'object'],
  HeadObject: ['s3:GetObject', 'object'],
  DeleteObject: ['s3:DeleteObject', 'object'],
};

const bucketPermission = (action: string, bucket: string, context = {}): Permission => ({
  action,
  resource: `arn:aws:s3:::${bucket}`,
  bucket,
  context,
});

const objectPermission = (action: string, bucket: string, key: string, context = {}): Permission => ({
  action,
  resource: `arn:aws:s3:::${bucket}/${key}`,
  bucket,
  context,
});

/** The permissions that a call of S3 needs. @throws S3Error for a copy source that names no object. */
function s3Permissions(target: S3Target, message: Message, signature: Signed | undefined): Permission[] {
  const { operation, bucket, key } = target;
  const [action, on] = ACTIONS[operation];
  const context = { ...signatureContext(signature), ...requestContext(target, message) };
  const main =
    on === 'bucket' ? bucketPermission(action, bucket, context) : objectPermission(action, bucket, key, context);
  if (operation !== 'CopyObject' && operation !== 'UploadPartCopy') return [main];
  const source = copySource(String(message.headers['x-amz-copy-source']));
  return [objectPermission('s3:GetObject', source.bucket, source.key, signatureContext(signature)), main];
}

/** The condition keys that describe the signature. */
function signatureContext(signature: Signed | undefined): Record<string, string> {
  if (!signature) return {};
  return {
    's3:authType': signature.place === 'header' ? 'REST-HEADER' : 'REST-QUERY-STRING',
    's3:signatureversion': 'AWS4-HMAC-SHA256',
    's3:x-amz-content-sha256': signature.payloadHash,
    ...(signature.place === 'query' && { 's3:signatureAge': String(signature.ageMilliseconds) }),
  };
}

function requestContext({ operation, query }: S3Target, { headers }: Message): Record<string, string> {
  const fromQuery = ['prefix', 'max-keys'].map((name) => [`s3:${name}`, query.get(name)] as const);
  const fromHeaders = [
    ...['x-amz-copy-source', 'x-amz-metadata-directive'].map((name) => [`s3:${name}`, headers[name]] as const),
    ['s3:if-none-match', headers['if-none-match']] as const,
  ];
  const given = operation.startsWith('List') ? fromQuery : fromHeaders;
  return Object.fromEntries(given.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])));
}

/** The errors by which S3 words the problems that the front finds. Source: S3 API, "Error responses"; "Authenticating requests". */
const PROBLEMS: Record<ProblemKind, readonly [code: S3ErrorCode, message?: string]> = {
  'access-denied': ['AccessDenied'],
  'expired-url': ['AccessDenied', 'Request has expired'],
  'incomplete-signature': ['AuthorizationHeaderMalformed'],
  'internal-error': ['InternalError'],
  'invalid-token': ['InvalidToken'],
  'malformed-query-signature': ['AuthorizationQueryParametersError'],
  'missing-signature': ['AccessDenied'],
  'payload-hash-missing': ['InvalidRequest', 'Missing required header for this request: x-amz-content-sha256'],
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

/** The element of the answer that holds the detail of a problem. */
const DETAILS: Partial<Record<ProblemKind, string>> = {
  'signature-mismatch': 'CanonicalRequest',
  'unsigned-header': 'HeadersNotSigned',
  'wrong-scope': 'Reason',
};

function toS3Error(error: unknown): S3Error {
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
