import { createHash, createHmac } from 'node:crypto';
import type { HeaderMap } from './header-map.ts';
import type { OriginRequest } from './origin-request.ts';

/** With what CloudFront signs for an origin access control. */
export interface OriginCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

const EMPTY_HASH = createHash('sha256').digest('hex');

/**
 * Adds an AWS Signature Version 4 for S3 in place of whatever `Authorization` there was. A body is not hashed: it streams.
 * Source: S3 API Reference, "Signature Calculations for the Authorization Header".
 */
export function signForS3(request: OriginRequest, credentials: OriginCredentials, hasBody: boolean, now: Date): void {
  const { headers } = request;
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${credentials.region}/s3/aws4_request`;
  const payloadHash = hasBody ? 'UNSIGNED-PAYLOAD' : EMPTY_HASH;
  headers.set('x-amz-date', [time]);
  headers.set('x-amz-content-sha256', [payloadHash]);
  headers.delete('x-amz-security-token');
  if (credentials.sessionToken) headers.set('x-amz-security-token', [credentials.sessionToken]);

  const signed = [...headers.keys()].filter((name) => name === 'host' || name.startsWith('x-amz-')).sort();
  const canonical = [
    request.method,
    ...canonicalTarget(request.target),
    canonicalHeaders(headers, signed),
    signed.join(';'),
    payloadHash,
  ];
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical.join('\n')).digest('hex')];
  const key = [time.slice(0, 8), credentials.region, 's3', 'aws4_request'].reduce<Buffer>(
    hmac,
    Buffer.from(`AWS4${credentials.secretAccessKey}`),
  );
  const signature = hmac(key, toSign.join('\n')).toString('hex');
  headers.set('authorization', [
    `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed.join(';')}, Signature=${signature}`,
  ]);
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonicalHeaders(headers: HeaderMap, signed: readonly string[]): string {
  return signed.map((name) => `${name}:${(headers.get(name) ?? []).map((value) => value.trim()).join(',')}\n`).join('');
}

/** S3 encodes each path segment once, and sorts the query by encoded name. */
function canonicalTarget(target: string): [path: string, query: string] {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const parameters = query.split('&').filter((parameter) => parameter !== '');
  return [
    path.split('/').map(reencode).join('/'),
    parameters
      .map((parameter) => parameter.split(/=(.*)/s))
      .map(([name = '', value = '']) => `${reencode(name)}=${reencode(value)}`)
      .sort()
      .join('&'),
  ];
}

function reencode(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // Not percent-encoded UTF-8: the signature is then of the text as it stands, which S3 refuses in its own way.
  }
  return encodeURIComponent(decoded).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
