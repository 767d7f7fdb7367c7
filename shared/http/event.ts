import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ApiError } from '../errors.ts';

/**
 * What the gateway sends a function (REST proxy event 1.0), as far as we read it. The streaming server makes the same of
 * its requests, with the bytes still on their way in `stream` instead of `body`, so both run the one middleware stack.
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
    /** The gateway's own client, which is a node of our edge or someone who called the gateway directly. */
    readonly identity: { readonly sourceIp: string };
  };
  readonly stream?: ArrivingBody;
  /** Set by the `authenticate` middleware alone: the gateway's events have no such field, so a client cannot. */
  caller?: Caller;
}

/** The body of a streaming upload, that may be read in two turns: by the upload, then by whoever throws the rest away. */
export interface ArrivingBody extends AsyncIterable<Uint8Array> {
  /** How many bytes have been read. */
  readonly bytes: number;
  /** Every byte has been read. */
  readonly hasEnded: boolean;
  /**
   * Reads what is left and throws it away: a client whose body is still on its way cannot read the answer.
   * @returns false when the rest does not come, or is too long: then nobody can be answered.
   */
  drain(): Promise<boolean>;
}

export type ApiResult = APIGatewayProxyResult;

/** Every value of a header, in the order sent; none when it is absent. */
export function headerValues(event: ApiEvent, name: string): string[] {
  const wanted = name.toLowerCase();
  return Object.entries(event.multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === wanted ? (values ?? []) : [],
  );
}

/** The value of a header that may be sent once; repeated, its values are joined by a comma as RFC 9110, 5.3 says. */
export function header(event: ApiEvent, name: string): string | undefined {
  const values = headerValues(event, name);
  return values.length > 0 ? values.join(', ') : undefined;
}

/**
 * The bytes of the body: the stream of a streaming upload, else what the gateway buffered.
 * @throws ApiError `unsupported_media_type` as {@link bodyBytes}.
 */
export function bodyStream(event: ApiEvent): AsyncIterable<Uint8Array> {
  refuseCompressed(event);
  return event.stream ?? once(bodyBytes(event));
}

/**
 * The body the gateway buffered; empty when there is none.
 * @throws ApiError `unsupported_media_type` when it has a `Content-Encoding`: no body may be compressed.
 */
export function bodyBytes(event: ApiEvent): Buffer {
  refuseCompressed(event);
  return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
}

/** `Accept-Encoding` in the answer says that the encoding was the reason, not the type (RFC 9110, section 12.5.3). */
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

/** Who is asking, once a credential was found good. */
export interface Caller {
  readonly accountId: string;
  readonly by: 'key' | 'session';
  /** Of the session's row; only with `by: 'session'`. Safe to hold, useless as a cookie. */
  readonly sessionHash?: string;
}
