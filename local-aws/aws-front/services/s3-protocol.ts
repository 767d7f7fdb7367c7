import { randomUUID } from 'node:crypto';
import { type CorsRule, corsHeaders } from '../../s3/cors.ts';
import { recogniseOperation, splitUrl } from '../../s3/operation.ts';
import { S3Error } from '../../s3/s3-error.ts';
import type { S3Server } from '../../s3/s3-server.ts';
import type { Gate } from '../access/gate.ts';
import { bucketPermission, objectPermission, s3Permissions } from '../access/s3-permissions.ts';
import type { Identity } from '../authenticate.ts';
import type { Call } from '../call.ts';
import type { Message } from '../message.ts';
import type { Caller } from '../principals.ts';
import { Problem } from '../problem.ts';
import type { Protocol } from '../protocol.ts';
import { s3Content, s3PayloadHash } from '../signature/s3-payload.ts';
import { toS3Error } from './s3-problems.ts';

export interface S3ProtocolParts {
  readonly server: S3Server;
  readonly gate: Gate;
  /** By bucket. */
  readonly corsRules: ReadonlyMap<string, readonly CorsRule[]>;
  /** Hears of errors that are no answer of S3. */
  readonly onUnexpected: (error: unknown) => void;
}

/** S3: the signed request becomes one of the server that keeps the objects. */
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
  const content = s3Content(message, signed?.payloadHash ?? 'UNSIGNED-PAYLOAD', signed?.chain);
  const access = accessOf(gate, caller);
  return {
    service: 's3',
    operation,
    tables: [],
    bucket,
    key,
    permissions: s3Permissions(target, message, signed),
    perform: () => server.handle({ ...target, headers, ...content, access }),
    throttled: () => new S3Error('SlowDown'),
  };
}

function accessOf(gate: Gate, caller: Caller) {
  return {
    list: (bucket: string) => gate.allows(caller, bucketPermission('s3:ListBucket', bucket)),
    delete: async (bucket: string, key: string) => {
      try {
        await gate.require(caller, [objectPermission('s3:DeleteObject', bucket, key)]);
        return true;
      } catch (error) {
        if (error instanceof Problem) return false;
        throw error;
      }
    },
  };
}

/** The URL with the bucket in its path, where the SDKs put it here; CloudFront names the bucket by the host. */
function pathStyleUrl({ url, headers }: Message): string {
  const bucket = /^(.+)\.s3\.[a-z0-9-]+\.amazonaws\.com$/.exec(headers.host ?? '')?.[1];
  return bucket === undefined ? url : `/${bucket}${url}`;
}

/** Bucket of a URL that may be malformed. */
const bucketOf = (url: string) => /^\/([^/?]*)/.exec(url)?.[1] ?? '';

/**
 * SDKs move the metadata of a presigned upload from the headers to the query, where S3 honours it. Checksums that were moved
 * with it S3 ignores, and so do we: only those in headers count.
 */
function withMetadataOf({ url, headers }: Message): Message['headers'] {
  const metadata = [...splitUrl(url).query].filter(([name]) => name.toLowerCase().startsWith('x-amz-meta-'));
  return { ...Object.fromEntries(metadata.map(([name, value]) => [name.toLowerCase(), value])), ...headers };
}
