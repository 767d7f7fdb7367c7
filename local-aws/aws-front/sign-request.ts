import { ALGORITHM, formatTimestamp } from './authorization.ts';
import { canonicalRequest, scopeText, sha256Hex, signingKey, signText } from './calculate.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Path and query, as they will stand in the request line. */
  readonly url: string;
  /** By name in lower case, with `host`. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body in hex; of an empty one by default. `UNSIGNED-PAYLOAD` leaves it open, for S3. */
  readonly payloadHash?: string;
}

/** All headers of the request with its signature, for who calls AWS without an SDK. */
export function signRequest(
  { method, url, headers, payloadHash = sha256Hex('') }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
  { region, service, now = new Date() }: { region: string; service: string; now?: Date },
): Record<string, string> {
  const timestamp = formatTimestamp(now);
  const scope = { date: timestamp.slice(0, 8), region, service };
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-date': timestamp,
    'x-amz-content-sha256': payloadHash,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const signedHeaders = Object.keys(signed).sort();
  const canonical = canonicalRequest({ method, url, headers: signed, signedHeaders, payloadHash });
  const signature = signText(signingKey(secretAccessKey, scope), { timestamp, scope }, sha256Hex(canonical));
  const credential = `${accessKeyId}/${scopeText(scope)}`;
  const fields = `Credential=${credential}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`;
  return { ...signed, authorization: `${ALGORITHM} ${fields}` };
}
