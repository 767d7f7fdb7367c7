import type { Message } from './message.ts';
import { Problem } from './problem.ts';
import { ALGORITHM, type Scope } from './signature.ts';

/** A signature, and what it claims to be valid for. None of it is verified yet. */
export interface Authorization {
  readonly place: 'header' | 'query';
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** The names of the signed headers, in lower case and in the given order. */
  readonly signedHeaders: readonly string[];
  /** The signature itself, in hex. */
  readonly signature: string;
  /** The time of the signature, as `YYYYMMDDTHHMMSSZ`. */
  readonly timestamp: string;
  /** How long a presigned URL is valid after its timestamp; absent for a header. */
  readonly expiresSeconds?: number;
  readonly sessionToken?: string;
}

/**
 * Reads the signature of a request from its `Authorization` header or its URL.
 * @returns undefined when the request has none.
 * @throws Problem `two-signatures`, `unsupported-signature`, `incomplete-signature`, `malformed-query-signature`.
 * Source: IAM User Guide, "Signature Version 4"; S3 API, "Authenticating requests: query parameters".
 */
export function readAuthorization({ headers, url }: Message): Authorization | undefined {
  const query = new URLSearchParams(url.split(/\?(.*)/s)[1] ?? '');
  const isInQuery = query.has('X-Amz-Algorithm') || query.has('X-Amz-Signature');
  if (headers.authorization === undefined) return isInQuery ? fromQuery(query) : undefined;
  if (isInQuery) throw new Problem('two-signatures');
  return fromHeader(headers.authorization, headers);
}

function fromHeader(header: string, headers: Message['headers']): Authorization {
  const [, fields] = /^AWS4-HMAC-SHA256\s+(.*)$/s.exec(header) ?? [];
  if (fields === undefined) throw new Problem('unsupported-signature');
  const field = (name: string) => new RegExp(`(?:^|[,\\s])${name}=([^,\\s]+)`).exec(fields)?.[1];
  const authorization = assemble({
    credential: field('Credential'),
    signedHeaders: field('SignedHeaders'),
    signature: field('Signature'),
    timestamp: headers['x-amz-date'] as string | undefined,
  });
  if (!authorization) throw new Problem('incomplete-signature', header.replace(/Signature=[^,\s]*/, 'Signature=…'));
  const sessionToken = headers['x-amz-security-token'] as string | undefined;
  return { place: 'header', ...authorization, ...(sessionToken !== undefined && { sessionToken }) };
}

/** The longest time for which a presigned URL may be valid: seven days. */
const EXPIRES_MAX_SECONDS = 604_800;

function fromQuery(query: URLSearchParams): Authorization {
  const get = (name: string) => query.get(`X-Amz-${name}`) ?? undefined;
  const authorization = assemble({
    credential: get('Credential'),
    signedHeaders: get('SignedHeaders'),
    signature: get('Signature'),
    timestamp: get('Date'),
  });
  const expires = get('Expires') ?? '';
  const expiresSeconds = /^\d{1,6}$/.test(expires) ? Number(expires) : Number.NaN;
  if (get('Algorithm') !== ALGORITHM || !authorization || !(expiresSeconds <= EXPIRES_MAX_SECONDS)) {
    throw new Problem('malformed-query-signature');
  }
  const sessionToken = get('Security-Token');
  return { place: 'query', ...authorization, expiresSeconds, ...(sessionToken !== undefined && { sessionToken }) };
}

/** @returns undefined when a part is missing or malformed. */
function assemble(parts: Record<'credential' | 'signedHeaders' | 'signature' | 'timestamp', string | undefined>) {
  const { credential = '', signedHeaders = '', signature = '', timestamp = '' } = parts;
  const [, accessKeyId, date, region, service] =
    /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(credential) ?? [];
  if (!accessKeyId || !date || !region || !service) return undefined;
  const isTimely = /^\d{8}T\d{6}Z$/.test(timestamp) && timestamp.startsWith(date);
  if (!isTimely || !/^[0-9a-f]{64}$/.test(signature) || signedHeaders === '') return undefined;
  return {
    accessKeyId,
    scope: { date, region, service },
    signedHeaders: signedHeaders.toLowerCase().split(';'),
    signature,
    timestamp,
  };
}
