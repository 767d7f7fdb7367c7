import type { APIGatewayProxyEvent } from 'aws-lambda';
import { JSON_BODY_MAX_BYTES } from '../contract/limits.ts';
import { IDEMPOTENCY_KEY } from '../contract/request-rules.ts';
import { ApiError } from '../errors.ts';

/**
 * The event that the gateway sends a function (REST proxy event 1.0), as far as we read it. The streaming server makes the same event of
 * its requests, with `stream` instead of `body`, so that functions and server run the same middleware stack.
 */
export interface ApiEvent
  extends Pick<
    APIGatewayProxyEvent,
    | 'httpMethod'
    | 'path'
    | 'multiValueHeaders'
    | 'multiValueQueryStringParameters'
    | 'pathParameters'
    | 'body'
    | 'isBase64Encoded'
  > {
  readonly requestContext: {
    readonly requestId: string;
    /** The client that the gateway sees: a node of our edge, because all other clients lack the gateway's key. */
    readonly identity: { readonly sourceIp: string };
  };
  readonly stream?: ArrivingBody;
  /** Only the `authenticate` middleware sets it. The gateway's events have no such field, so a client cannot set it. */
  caller?: Caller;
  /** The prefix of a well-formed key that was refused, for the log. Only the `authenticate` middleware sets it. */
  refusedKeyPrefix?: string;
}

/** The client of a request whose credential is valid. */
export interface Caller {
  readonly accountId: string;
  readonly by: 'key' | 'session';
  /** The part of the key that its owner sees in the list of keys; present only with `by: 'key'`. */
  readonly keyPrefix?: string;
  /** The hash of the session's token; present only with `by: 'session'`. The hash is not secret, because it cannot be used as a cookie. */
  readonly sessionHash?: string;
}

/** A body that is still arriving. */
export interface ArrivingBody extends AsyncIterable<Uint8Array> {
  /** How many bytes have been read. */
  readonly bytes: number;
  /** True when every byte has been read. */
  readonly hasEnded: boolean;
}

/** How many bytes of the body have come so far. A gateway does not pass `Content-Length` on. */
export function receivedBytes({ stream, body, isBase64Encoded }: ApiEvent): number {
  return stream ? stream.bytes : Buffer.byteLength(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

/** Every value of a header, in the order sent; none when it is absent. */
export function headerValues(event: ApiEvent, name: string): string[] {
  const wanted = name.toLowerCase();
  return Object.entries(event.multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === wanted ? (values ?? []) : [],
  );
}

/** The value of a header; the values of a repeated one are joined by a comma (RFC 9110, section 5.3). */
export function header(event: ApiEvent, name: string): string | undefined {
  const values = headerValues(event, name);
  return values.length > 0 ? values.join(', ') : undefined;
}

/**
 * The address of the client, for the log. Only our edge can have sent `x-viewer-address`: the gateway refuses requests without its key,
 * which only the edge has (decision 0018). The streaming server refuses requests that do not come from the edge, before it logs anything.
 */
export function loggedAddress(event: ApiEvent): string {
  return header(event, 'x-viewer-address') ?? event.requestContext.identity.sourceIp;
}

const IDEMPOTENCY_KEY_PATTERN = new RegExp(IDEMPOTENCY_KEY.pattern);

/**
 * The request's `Idempotency-Key`; undefined when it has none.
 * @throws ApiError `invalid_request` unless it is one value of 1 to 255 visible ASCII characters or spaces.
 */
export function idempotencyKey(event: ApiEvent): string | undefined {
  const values = headerValues(event, 'idempotency-key');
  if (values.length === 0) return undefined;
  const [key = ''] = values;
  const isValid = values.length === 1 && key.length <= IDEMPOTENCY_KEY.maxLength && IDEMPOTENCY_KEY_PATTERN.test(key);
  if (!isValid)
    throw new ApiError('invalid_request', {
      detail:
        'the Idempotency-Key is empty, repeated or too long, or has characters that are not visible ASCII or spaces',
    });
  return key;
}

/**
 * The value of a query parameter that may be given at most once.
 * @throws ApiError `invalid_request` when the parameter is repeated, because it is unclear which value the client means.
 */
export function queryText(event: ApiEvent, name: string): string | undefined {
  const values = event.multiValueQueryStringParameters?.[name] ?? [];
  if (values.length > 1) throw new ApiError('invalid_request', { detail: `the parameter ${name} is repeated` });
  return values[0];
}

/**
 * A whole number from the query string; `fallback` when it is absent.
 * @throws ApiError `invalid_request` when it is not a whole number, or out of its bounds (both inclusive).
 */
export function queryInteger(
  event: ApiEvent,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = queryText(event, name);
  if (text === undefined) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ApiError('invalid_request', {
      detail: `the parameter ${name} is not a whole number from ${min} to ${max}`,
    });
  }
  return value;
}

/** True when the request says that its body is JSON; parameters such as a charset do not matter. */
function isJson(event: ApiEvent): boolean {
  const mediaType = (header(event, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  return mediaType === 'application/json';
}

/**
 * The members of the body, which is a JSON object. A member that is null is left out: many programs write an absent field like that.
 * @throws ApiError `unsupported_media_type`, `file_too_large` (over {@link JSON_BODY_MAX_BYTES}) or `invalid_request`.
 */
export function jsonBody(event: ApiEvent): Readonly<Record<string, unknown>> {
  if (!isJson(event)) throw new ApiError('unsupported_media_type', { detail: 'the body is not application/json' });
  const bytes = bodyBytes(event);
  if (bytes.length > JSON_BODY_MAX_BYTES) {
    const facts = { bytes: bytes.length, limit_bytes: JSON_BODY_MAX_BYTES };
    throw new ApiError('file_too_large', { detail: 'the JSON body is too long', facts });
  }
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('invalid_request', { detail: 'the body is not a JSON object' });
  }
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ApiError('invalid_request', { detail: 'the body is not JSON in UTF-8', cause });
  }
}

/**
 * The bytes of the body: the stream of a streaming upload, otherwise what the gateway buffered.
 * @throws ApiError `unsupported_media_type` when the body has a `Content-Encoding`.
 */
export function bodyStream(event: ApiEvent): AsyncIterable<Uint8Array> {
  refuseCompressed(event);
  return event.stream ?? once(bodyBytes(event));
}

/** The body that the gateway buffered; empty when there is none. */
function bodyBytes(event: ApiEvent): Buffer {
  refuseCompressed(event);
  return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
}

/**
 * Refuses a compressed body. The header `Accept-Encoding` of the answer says that the encoding was the reason, not the type (RFC 9110,
 * section 12.5.3).
 */
function refuseCompressed(event: ApiEvent): void {
  const encodings = (header(event, 'content-encoding') ?? '').split(',').map((encoding) => encoding.trim());
  if (encodings.every((encoding) => /^(?:identity)?$/i.test(encoding))) return;
  throw new ApiError('unsupported_media_type', {
    headers: { 'Accept-Encoding': 'identity' },
    detail: 'the body has a Content-Encoding',
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
