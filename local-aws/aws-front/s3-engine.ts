import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import { request as startRequestByTls } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Operation } from '../s3/operation.ts';
import { S3Error } from '../s3/s3-error.ts';
import type { CreationReason, ObjectCreated, S3Request, S3Response } from '../s3/s3-request.ts';
import type { S3Server } from '../s3/s3-server.ts';
import { type Credentials, signRequest, uriEncode } from './signature.ts';

interface S3EngineOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: Credentials;
  readonly buckets: readonly string[];
  readonly onObjectCreated?: (event: ObjectCreated) => void;
}

/** The headers that the engine needs. The others belong to the connection or to the signature. */
const FORWARDED =
  /^(content-(type|disposition|encoding|language|md5)|cache-control|expires|range|if-.*|x-amz-(meta-.*|checksum-.*|copy-source.*|metadata-directive))$/;
const CREATING = new Set<S3Operation>(['PutObject', 'CopyObject', 'CompleteMultipartUpload']);
const READING = new Set<S3Operation>(['GetObject', 'HeadObject', 'CopyObject', 'UploadPartCopy']);

/** Uses another S3 server in place of our own, by path-style addresses. Checksums that follow the content are not checked. */
export function connectS3(options: S3EngineOptions): S3Server {
  const send = createSender(options);
  const announce = async (request: S3Request) => {
    const { status, headers, body } = await send({
      ...request,
      operation: 'HeadObject',
      query: new URLSearchParams(),
      headers: {},
    });
    (body as Readable).resume();
    if (status !== 200) return; // The object was deleted meanwhile.
    const [size, etag] = [Number(headers?.['content-length']), headers?.etag?.replaceAll('"', '') ?? ''];
    const reason = request.operation as CreationReason;
    options.onObjectCreated?.({ bucket: request.bucket, key: request.key, size, etag, reason });
  };
  return {
    hasBucket: (name) => options.buckets.includes(name),
    async handle(request) {
      const response = await send(request);
      if (response.status === 200 && CREATING.has(request.operation)) await announce(request);
      if (response.status === 404 && READING.has(request.operation) && !(await request.mayList(request.bucket))) {
        (response.body as Readable).resume();
        throw new S3Error('AccessDenied');
      }
      return response;
    },
  };
}

const METHODS: Partial<Record<S3Operation, string>> = {
  PutObject: 'PUT',
  CopyObject: 'PUT',
  UploadPart: 'PUT',
  UploadPartCopy: 'PUT',
  CreateMultipartUpload: 'POST',
  CompleteMultipartUpload: 'POST',
  DeleteObject: 'DELETE',
  AbortMultipartUpload: 'DELETE',
  HeadObject: 'HEAD',
  HeadBucket: 'HEAD',
};

function createSender({ endpoint, region, credentials }: S3EngineOptions) {
  const { host, protocol, hostname, port } = new URL(endpoint);
  const isTls = protocol === 'https:';
  const agent = isTls ? undefined : new Agent({ keepAlive: true, timeout: 5_000 });
  const start = isTls ? startRequestByTls : startRequest;

  return async (request: S3Request): Promise<S3Response> => {
    const method = METHODS[request.operation] ?? 'GET';
    const path = urlOf(request);
    const unsigned = {
      method,
      url: path,
      headers: { host, ...forwardedHeaders(request) },
      payloadHash: 'UNSIGNED-PAYLOAD',
    };
    const signed = await signRequest(unsigned, credentials, { region, service: 's3' });
    const hasContent = method === 'PUT' || method === 'POST';
    const headers = { ...signed, ...(hasContent && { 'content-length': String(request.contentLength ?? 0) }) };
    const outgoing = start({ method, hostname, port, path, headers, ...(agent && { agent }) });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
    });
    const sent = hasContent ? pipeline(Readable.from(holdLast(request.content)), outgoing) : outgoing.end();
    // An engine that refuses the content may answer before it has received all of it.
    const response = await Promise.race([answered, Promise.resolve(sent).then(() => answered)]);
    return { status: response.statusCode ?? 500, headers: answerHeaders(response), body: response };
  };
}

/** Holds the last piece back until all of the content was read and verified, so that nothing is stored before. */
async function* holdLast(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  for await (const chunk of content) {
    if (held) yield held;
    held = chunk;
  }
  if (held) yield held;
}

function urlOf({ bucket, key, query }: S3Request): string {
  const path = [bucket, ...(key === '' ? [] : key.split('/'))].map(uriEncode).join('/');
  const parameters = [...query].filter(([name]) => !/^x-(amz-|id$)/i.test(name));
  const search = parameters.map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`).join('&');
  return `/${path}${search && `?${search}`}`;
}

function forwardedHeaders({ headers }: S3Request): Record<string, string> {
  const forwarded = Object.entries(headers).filter(([name]) => FORWARDED.test(name)) as [string, string][];
  return Object.fromEntries(
    forwarded.map(([name, value]) => [
      name,
      name === 'content-encoding' ? value.replace(/aws-chunked,?\s*/, '') : value,
    ]),
  );
}

function answerHeaders({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name]) => !/^(connection|keep-alive|transfer-encoding|date)$/.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));
}
