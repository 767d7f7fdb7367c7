import { copySource } from '../../s3/copy-object.ts';
import type { S3Operation, S3Target } from '../../s3/operation.ts';
import type { Signed } from '../authenticate.ts';
import type { Message } from '../message.ts';
import type { Permission } from './permission.ts';

/** The action of each operation, and whether it is on the bucket or on an object. Source: S3 service authorization. */
const ACTIONS: Record<S3Operation, readonly [action: string, on: 'bucket' | 'object'] | undefined> = {
  HeadBucket: ['s3:ListBucket', 'bucket'],
  ListObjectsV2: ['s3:ListBucket', 'bucket'],
  ListMultipartUploads: ['s3:ListBucketMultipartUploads', 'bucket'],
  CreateMultipartUpload: ['s3:PutObject', 'object'],
  UploadPart: ['s3:PutObject', 'object'],
  UploadPartCopy: ['s3:PutObject', 'object'],
  CompleteMultipartUpload: ['s3:PutObject', 'object'],
  AbortMultipartUpload: ['s3:AbortMultipartUpload', 'object'],
  ListParts: ['s3:ListMultipartUploadParts', 'object'],
  CopyObject: ['s3:PutObject', 'object'],
  PutObject: ['s3:PutObject', 'object'],
  GetObject: ['s3:GetObject', 'object'],
  HeadObject: ['s3:GetObject', 'object'],
  DeleteObject: ['s3:DeleteObject', 'object'],
  // Each key is judged for itself, and one that is refused does not refuse the call.
  DeleteObjects: undefined,
};

export const bucketPermission = (action: string, bucket: string, context = {}): Permission => ({
  action,
  resource: `arn:aws:s3:::${bucket}`,
  bucket,
  context,
});

export const objectPermission = (action: string, bucket: string, key: string, context = {}): Permission => ({
  action,
  resource: `arn:aws:s3:::${bucket}/${key}`,
  bucket,
  context,
});

/** What a call of S3 needs. @throws S3Error for a copy source that names no object. */
export function s3Permissions(target: S3Target, message: Message, signature: Signed | undefined): Permission[] {
  const { operation, bucket, key } = target;
  const definition = ACTIONS[operation];
  if (!definition) return [];
  const [action, on] = definition;
  const context = { ...signatureContext(signature), ...requestContext(target, message) };
  const main =
    on === 'bucket' ? bucketPermission(action, bucket, context) : objectPermission(action, bucket, key, context);
  if (operation !== 'CopyObject' && operation !== 'UploadPartCopy') return [main];
  const source = copySource(String(message.headers['x-amz-copy-source']));
  return [objectPermission('s3:GetObject', source.bucket, source.key, signatureContext(signature)), main];
}

/** How the request was signed, if it was. */
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
  const fromQuery = ['prefix', 'delimiter', 'max-keys'].map((name) => [`s3:${name}`, query.get(name)] as const);
  const fromHeaders = [
    ...['x-amz-copy-source', 'x-amz-metadata-directive'].map((name) => [`s3:${name}`, headers[name]] as const),
    ['s3:if-none-match', headers['if-none-match']] as const,
  ];
  const given = operation.startsWith('List') ? fromQuery : fromHeaders;
  return Object.fromEntries(given.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])));
}
