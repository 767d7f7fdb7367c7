import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { ALGORITHM, type Scope } from './authorization.ts';

export const sha256Hex = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

const hmac = (key: string | Uint8Array | KeyObject, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

export const scopeText = ({ date, region, service }: Scope): string => `${date}/${region}/${service}/aws4_request`;

/** Keys by secret and scope; every principal has one a day and service. */
const signingKeys = new Map<string, KeyObject>();
const SIGNING_KEYS_MAX = 1_000;

/** The key that signs requests of one day, region and service. */
export function signingKey(secretAccessKey: string, scope: Scope): KeyObject {
  const name = `${secretAccessKey} ${scopeText(scope)}`;
  const known = signingKeys.get(name);
  if (known) return known;
  if (signingKeys.size >= SIGNING_KEYS_MAX) signingKeys.clear();
  const { date, region, service } = scope;
  const bytes = hmac(hmac(hmac(hmac(`AWS4${secretAccessKey}`, date), region), service), 'aws4_request');
  const key = createSecretKey(bytes);
  signingKeys.set(name, key);
  return key;
}

/** A signature in hex: `parts` are the lines that follow timestamp and scope. */
export function signText(
  key: KeyObject,
  { algorithm = ALGORITHM, timestamp, scope }: { algorithm?: string; timestamp: string; scope: Scope },
  ...parts: readonly string[]
): string {
  return hmac(key, [algorithm, timestamp, scopeText(scope), ...parts].join('\n')).toString('hex');
}

export interface CanonicalParts {
  readonly method: string;
  /** Path and query as they stand in the request line. */
  readonly url: string;
  /** By name in lower case; several of one name joined by commas. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly signedHeaders: readonly string[];
  readonly payloadHash: string;
}

/**
 * The text that is signed. Whoever sends a URL may have encoded more or less than SigV4 does, so path and query are decoded
 * and encoded anew. As for S3, the path is encoded once and not normalised; the other services here know only `/`.
 */
export function canonicalRequest({ method, url, headers, signedHeaders, payloadHash }: CanonicalParts): string {
  const [path = '/', search = ''] = url.split(/\?(.*)/s);
  const canonicalHeaders = signedHeaders.map((name) => `${name}:${headerText(headers[name])}\n`).join('');
  const query = canonicalQuery(search);
  const encodedPath = path.split('/').map(recode).join('/');
  return [method, encodedPath, query, canonicalHeaders, signedHeaders.join(';'), payloadHash].join('\n');
}

const headerText = (value: string | string[] | undefined): string =>
  [value ?? ''].flat().join(',').trim().replace(/\s+/g, ' ');

function canonicalQuery(search: string): string {
  return search
    .split('&')
    .filter((parameter) => parameter !== '')
    .map((parameter) => parameter.replace(/\+/g, ' ').split(/=(.*)/s, 2))
    .map(([name = '', value = '']) => [recode(name), recode(value)] as const)
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function recode(text: string): string {
  try {
    return uriEncode(decodeURIComponent(text));
  } catch {
    return text; // Not valid percent-encoding: the operation will be refused for it.
  }
}

/** Percent-encoding of all but RFC 3986's unreserved characters. */
export const uriEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
