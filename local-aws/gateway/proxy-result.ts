import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { HttpAnswer } from './gateway-response.ts';
import { isBinaryType } from './proxy-event.ts';
import type { RestApi } from './rest-api.ts';

/** Come back under the name `X-Amzn-Remapped-…`. Source: API Gateway Developer Guide, "Important notes", table of headers. */
const REMAPPED = /^(authorization|connection|content-md5|date|max-forwards|server|user-agent|www-authenticate)$/i;
/** Do not come back at all. Source: as {@link REMAPPED}. */
const DROPPED_FROM_RESPONSE = /^(expect|host|proxy-authenticate|te|transfer-encoding|trailer|upgrade|via)$/i;
/** The gateway measures the body itself. */
const MEASURED = /^content-length$/i;

type Header = readonly [name: string, value: string];

/**
 * The answer a function's result stands for; undefined when it is none ("malformed Lambda proxy response").
 * Source: API Gateway Developer Guide, "Output format of a Lambda function for proxy integration".
 * @param accept  the client's `Accept`, of which the gateway looks at the first media type alone.
 */
export function proxyResult(payload: string, api: RestApi, accept: string | undefined): HttpAnswer | undefined {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (!(status in STATUS_CODES) || (isBase64Encoded !== undefined && typeof isBase64Encoded !== 'boolean')) {
    return undefined;
  }
  if (body !== undefined && body !== null && typeof body !== 'string') return undefined;
  const single = readHeaders(headers, isScalar);
  const multiple = readHeaders(multiValueHeaders, (value) => Array.isArray(value) && value.every(isScalar));
  if (!single || !multiple || ![...single, ...multiple].every(canBeSent)) return undefined;
  const all = merge(single, multiple);
  const type = all.find(([name]) => /^content-type$/i.test(name))?.[1];
  const isBinary = isBase64Encoded === true && isBinaryType(api.binaryMediaTypes, accept?.split(',')[0] ?? type);
  return {
    status,
    headers: [
      ...(type === undefined ? [['Content-Type', 'application/json'] as const] : []),
      ...all.flatMap(returnedHeader),
    ],
    body: Buffer.from(body ?? '', isBinary ? 'base64' : 'utf8'),
  };
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** Undefined when they are not what they must be. */
function readHeaders(given: unknown, isValid: (value: unknown) => boolean): Header[] | undefined {
  if (given === undefined || given === null) return [];
  if (typeof given !== 'object' || !Object.values(given).every(isValid)) return undefined;
  return Object.entries(given).flatMap(([name, value]) => [value].flat().map((item): Header => [name, String(item)]));
}

function canBeSent([name, value]: Header): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A name in both: only the list counts, unless the single value is not in it. */
function merge(single: readonly Header[], multiple: readonly Header[]): Header[] {
  const isListed = ([name, value]: Header) =>
    multiple.some(([other, item]) => other.toLowerCase() === name.toLowerCase() && item === value);
  return [...single.filter((header) => !isListed(header)), ...multiple];
}

function returnedHeader([name, value]: Header): Header[] {
  if (DROPPED_FROM_RESPONSE.test(name) || MEASURED.test(name)) return [];
  return [[REMAPPED.test(name) ? `X-Amzn-Remapped-${name}` : name, value]];
}
