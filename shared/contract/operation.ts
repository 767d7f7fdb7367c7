import type { AnswerName } from './answers.ts';
import type { ErrorCode } from './errors.ts';
import { DIRECT_URL_TTL_MS, IDEMPOTENCY_TTL_MS } from './limits.ts';
import { IDEMPOTENCY_KEY, LIST_QUERY } from './request-rules.ts';

/** Part of JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The groups of operations. */
export const TAGS = {
  Files: 'Upload, list, read and delete files.',
  'Direct uploads': 'Send the bytes of a file directly to the storage: for large files and slow networks.',
  Usage: 'How much the account uses, and how much it may use.',
  'API keys': 'Make and revoke the keys of programs. Only a person who is logged in may do this.',
  Login: 'Log in with Google, in a browser.',
  Health: 'Whether the service works.',
} as const;

/** The headers of answers, by name; `components.headers` of the document describes them. */
export const HEADERS = {
  'X-Request-Id': 'The id of the request in the log of the service. Quote it when you report a problem.',
  'RateLimit-Policy': 'The limit that counted the request: `"uploads";q=60;w=60` is 60 requests in 60 seconds.',
  RateLimit: 'How many requests are left, and after how many seconds there are more: `"uploads";r=59;t=60`.',
  'Error-Detail':
    'Why the request was refused, for people who read a log: its words may change. At most 200 characters.',
  'Retry-After': 'How many seconds to wait before the next attempt.',
  Location: 'The address of what was made, or where the browser goes on.',
  'Idempotency-Replayed': '`true` when an earlier request with the same `Idempotency-Key` made the file or the ticket.',
  'X-Commit': 'The commit of the code that answers.',
  'Set-Cookie': 'The cookie of the session, or of the attempt to log in.',
} as const satisfies Readonly<Record<string, string>>;

export type HeaderName = keyof typeof HEADERS;

/** One successful answer of a route. */
interface Success {
  readonly status: 200 | 201 | 202 | 302;
  readonly description: string;
  /** The body; absent when the answer has none. The handler must return this type (`apiHandler`). */
  readonly body?: AnswerName;
  readonly headers?: readonly HeaderName[];
}

/** A body of JSON, or a form with a file. */
export type RequestBodyName = 'TicketRequest' | 'CreateKeyRequest' | 'UploadForm';

/** An entry of `x-codeSamples`, an extension of OpenAPI: programs that render the document show it with the operation. */
export interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python' | 'Go';
  readonly label: string;
  readonly source: string;
}

/**
 * What the sample programs of a route send. They read the address, the key or cookie, and ids from variables of the environment:
 * `FILE_HOSTING_URL`, `FILE_HOSTING_KEY` or `FILE_HOSTING_COOKIE` (`<name>=<value>`), and `ID`.
 */
export interface Sample {
  readonly query?: string;
  /** The JSON body. */
  readonly json?: string;
  /** The path of the file that a form sends. */
  readonly file?: string;
  /** A program for the client of this project. Without one there is no sample in TypeScript. */
  readonly client?: string;
  /** Programs that take several requests, besides the samples of this one. */
  readonly whole?: readonly CodeSample[];
}

/** What the OpenAPI document says of a route, besides its path, credential and purpose. */
export interface Operation {
  readonly tag: keyof typeof TAGS;
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly body?: RequestBodyName;
  readonly successes: readonly Success[];
  /** The errors that not every route has; the document adds those of every route, and `unauthorized` if it needs a credential. */
  readonly errors?: readonly ErrorCode[];
  /** `none` for the login, which only a browser can do. */
  readonly sample: Sample | 'none';
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** How long a direct upload may wait for its PUT, for texts. */
export const DIRECT_URL_MINUTES = DIRECT_URL_TTL_MS / MINUTE_MS;

export const idParameter = (of: string): Schema => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `The id of ${of}.`,
  schema: { type: 'string', format: 'uuid' },
});

export const listParameter = (name: keyof typeof LIST_QUERY, description: string): Schema => {
  const { fallback, min, max } = LIST_QUERY[name];
  return {
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
  };
};

export const idempotencyKeyParameter: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    `Makes it safe to send the request again. Choose a new key for each file. The same request with the same key within ${IDEMPOTENCY_TTL_MS / HOUR_MS} hours makes no ` +
    'second file, and is answered with the record of the first one, even if that file has been deleted since. The same request means ' +
    'the same route, name, type and content (of a ticket: size and checksum); another one is `idempotency_conflict`. A repeated request for ' +
    'a ticket gets the same ticket with a URL that is signed again, while the upload is open; after it was cancelled or has ended, a new one.',
  // There is no example: an import would send it with every upload.
  schema: { type: 'string', ...IDEMPOTENCY_KEY },
};
