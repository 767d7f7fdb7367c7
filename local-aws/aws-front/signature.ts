import { createHash, createHmac, createSecretKey, type Hash, type Hmac, hash, type KeyObject } from 'node:crypto';
import { getCanonicalHeaders, getCanonicalQuery, SignatureV4 } from '@smithy/signature-v4';

/**
 * AWS Signature Version 4. The library that the SDK signs with makes the signatures, and the canonical forms of headers and
 * queries. This file checks received signatures, with keys that it computes once.
 */

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have it: those of a role. They are worth nothing without it. */
  readonly sessionToken?: string;
}

/** What a signature is valid for. */
export interface Scope {
  /** The day, as `YYYYMMDD`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

/** Node's SHA-256, or with a key its HMAC-SHA-256, in the shape that the library expects. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key as string | Uint8Array);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string | Uint8Array);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

const signerOf = (credentials: Credentials, { region, service }: { region: string; service: string }) =>
  new SignatureV4({ credentials, region, service, sha256: Sha256, uriEscapePath: false });

interface SignableRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly url: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Signs a request of ours.
 * @param request  `headers` include `host`. `payloadHash` is the SHA-256 of the body in hex, by default of an empty body; for
 *   S3 it may be `UNSIGNED-PAYLOAD`.
 * @returns all headers to send.
 */
export async function signRequest(
  request: SignableRequest & { readonly headers: Readonly<Record<string, string>>; readonly payloadHash?: string },
  credentials: Credentials,
  { region, service, now = new Date() }: { region: string; service: string; now?: Date },
): Promise<Record<string, string>> {
  const { payloadHash = sha256Hex(''), headers } = request;
  const signable = toHttpRequest({ ...request, headers: { ...headers, 'x-amz-content-sha256': payloadHash } });
  const signed = await signerOf(credentials, { region, service }).sign(signable, { signingDate: now });
  return signed.headers;
}

/**
 * The signature, in hex, that the holder of the credentials would give a received request; and the canonical request, the
 * text that it signs.
 */
export function expectedSignature(
  request: SignableRequest,
  credentials: Credentials,
  claim: {
    readonly scope: Scope;
    /** The time of the signature, as `YYYYMMDDTHHMMSSZ`. */
    readonly timestamp: string;
    readonly signedHeaders: readonly string[];
    /** SHA-256 of the body in hex, or a word that stands for it. */
    readonly payloadHash: string;
  },
): { readonly signature: string; readonly canonicalRequest: string } {
  const { scope, timestamp, payloadHash } = claim;
  const names = claim.signedHeaders.toSorted();
  const headers = Object.fromEntries(names.map((name) => [name, [request.headers[name] ?? ''].flat().join(',')]));
  const signable = toHttpRequest({ ...request, headers });
  // The library leaves out some headers, such as the user agent, if they are not named.
  const canonical = getCanonicalHeaders(signable, undefined, new Set(names));
  const canonicalRequest = [
    request.method,
    signable.path,
    getCanonicalQuery(signable),
    ...names.map((name) => `${name}:${canonical[name]}`),
    '',
    names.join(';'),
    payloadHash,
  ].join('\n');
  const scopeText = `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
  const text = [ALGORITHM, timestamp, scopeText, sha256Hex(canonicalRequest)].join('\n');
  const signature = createHmac('sha256', signingKey(credentials, scope)).update(text).digest('hex');
  return { signature, canonicalRequest };
}

/** The keys that signatures are made with, by secret and scope. Making one takes longer than all the rest of a signature. */
const signingKeys = new Map<string, KeyObject>();
/** Bounds the keys that are kept, because a client could invent scopes without end. Functions and their calls need fewer. */
const SIGNING_KEYS_MAX = 1_000;

function signingKey({ secretAccessKey }: Credentials, { date, region, service }: Scope): KeyObject {
  const id = `${secretAccessKey}/${date}/${region}/${service}`;
  const known = signingKeys.get(id);
  if (known) return known;
  const steps = [date, region, service, 'aws4_request'];
  const key = steps.reduce(
    (secret, step) => createHmac('sha256', secret).update(step).digest(),
    Buffer.from(`AWS4${secretAccessKey}`),
  );
  const made = createSecretKey(key);
  if (signingKeys.size >= SIGNING_KEYS_MAX) signingKeys.clear();
  signingKeys.set(id, made);
  return made;
}

/**
 * A client may have encoded more or less of its URL than SigV4 does. So path and query are decoded and encoded again. The path is encoded
 * once and not normalised: SigV4 prescribes that for S3, and the other services know only the path `/`.
 */
function toHttpRequest({ method, url, headers }: SignableRequest & { readonly headers: Record<string, string> }) {
  const [path = '/', search = ''] = url.split(/\?(.*)/s);
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) query[name] = [...(query[name] ?? []), value];
  const encodedPath = path.split('/').map(encodeAgain).join('/');
  return { method, protocol: 'http:', hostname: '127.0.0.1', path: encodedPath, query, headers };
}

function encodeAgain(text: string): string {
  try {
    return uriEncode(decodeURIComponent(text));
  } catch {
    return text; // The text is not valid percent-encoding. The operation will be refused for that.
  }
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** @param timestamp  `YYYYMMDDTHHMMSSZ`. @returns milliseconds since 1970; `NaN` when there is no such time. */
export const parseTimestamp = (timestamp: string): number =>
  Date.parse(timestamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
