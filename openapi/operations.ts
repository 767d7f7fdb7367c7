import type { ErrorCode } from '../shared/errors.ts';
import { DIRECT_URL_TTL_MS, IDEMPOTENCY_TTL_MS } from '../shared/limits.ts';
import { LOGIN_ERRORS } from '../shared/login/login-error.ts';
import { API_KEY_NAME, IDEMPOTENCY_KEY, LIST_QUERY } from '../shared/request-rules.ts';
import type { RouteName } from '../shared/routes.ts';
import type { Schema, SchemaName } from './schemas.ts';

/** The headers of answers, by name; `components.headers` of the document describes them. */
export const HEADERS = {
  'X-Request-Id': 'The id of the request in the log of the service. Quote it when you report a problem.',
  'RateLimit-Policy': 'The limit that counted the request: `"uploads";q=60;w=60` is 60 requests in 60 seconds.',
  RateLimit: 'How many requests are left, and after how many seconds there are more: `"uploads";r=59;t=60`.',
  'Retry-After': 'How many seconds to wait before the next attempt.',
  Location: 'The address of what was made, or where the browser goes on.',
  'Idempotency-Replayed': '`true` when an earlier request with the same `Idempotency-Key` made the file or the ticket.',
  'X-Commit': 'The commit of the code that answers.',
  'Set-Cookie': 'The cookie of the session, or of the attempt to log in.',
} as const satisfies Readonly<Record<string, string>>;

export type HeaderName = keyof typeof HEADERS;

export interface Success {
  readonly status: 200 | 201 | 202 | 302;
  readonly description: string;
  /** Absent when the answer has no body. */
  readonly schema?: SchemaName;
  readonly headers?: readonly HeaderName[];
}

/** What the document says of a route besides its row in the table of routes. */
export interface Operation {
  readonly tag: Tag;
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly body?: {
    readonly description: string;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly successes: readonly Success[];
  /** The errors that not every route has; `document.ts` adds those of every route, and `unauthorized` if it needs a credential. */
  readonly errors?: readonly ErrorCode[];
}

/** The groups of operations. */
export const TAGS = {
  Files: 'Upload, list, read and delete files.',
  'API keys': 'Make and revoke the keys of programs. Only a person who is logged in may do this.',
  Login: 'Log in with Google, in a browser.',
  Health: 'Whether the service works.',
} as const;
type Tag = keyof typeof TAGS;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const id = (of: string): Schema => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `The id of ${of}.`,
  schema: { type: 'string', format: 'uuid' },
});

const query = (name: keyof typeof LIST_QUERY, description: string): Schema => {
  const { fallback, min, max } = LIST_QUERY[name];
  return {
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
  };
};

const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes it safe to send the upload again: the same upload with the same key within ' +
    `${IDEMPOTENCY_TTL_MS / HOUR_MS} hours is answered with the record of the first one, and makes no second file. A repeated request for a ticket gets the ` +
    'same ticket with a new URL while the upload is open, and the record when it is complete.',
  schema: { type: 'string', ...IDEMPOTENCY_KEY, examples: ['8f14e45f-ceea-467f-a0e6-1b5f2a3c4d5e'] },
};

const ref = (name: SchemaName): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Every operation of the document, by the name of its route. */
export const OPERATIONS: Readonly<Record<RouteName, Operation>> = {
  health: {
    tag: 'Health',
    description: 'Asks the database and the storage, at most every 3 seconds. 503 says which of them does not answer.',
    successes: [{ status: 200, description: 'The service works.', schema: 'Health', headers: ['X-Commit'] }],
  },
  startLogin: {
    tag: 'Login',
    description:
      'Open it in a browser. Errors take a browser to the login page, with the code in `?error=`; other clients get JSON.',
    successes: [{ status: 302, description: 'The browser goes on at Google.', headers: ['Location', 'Set-Cookie'] }],
  },
  finishLogin: {
    tag: 'Login',
    description:
      'Google sends the browser here. The answer redirects the browser to the dashboard with a session, or to the login page with ' +
      `\`?error=\` and one of the codes ${Object.keys(LOGIN_ERRORS)
        .map((code) => `\`${code}\``)
        .join(', ')}.`,
    parameters: ['code', 'state', 'error'].map((name) => ({
      name,
      in: 'query',
      description: 'As Google sends it (RFC 6749, section 4.1.2).',
      schema: { type: 'string' },
    })),
    successes: [
      {
        status: 302,
        description: 'The browser goes on at the dashboard or the login page.',
        headers: ['Location', 'Set-Cookie'],
      },
    ],
  },
  getMe: {
    tag: 'Login',
    description: 'Who is logged in, how much storage the account has, and how much of it is used.',
    successes: [{ status: 200, description: 'The profile.', schema: 'Profile' }],
  },
  logout: {
    tag: 'Login',
    description: 'The session is refused from the next request on. The other sessions of the account go on.',
    successes: [{ status: 200, description: 'The session has ended.', schema: 'LoggedOut', headers: ['Set-Cookie'] }],
  },
  endSessions: {
    tag: 'Login',
    description: 'For a lost device: every browser must log in again. API keys stay valid.',
    successes: [{ status: 200, description: 'All sessions have ended.', schema: 'LoggedOut', headers: ['Set-Cookie'] }],
  },
  listFiles: {
    tag: 'Files',
    description:
      'The newest file comes first, and `total` is exact. Pages are offsets: while files are added or deleted, a file may ' +
      'move from one page to the next.',
    parameters: [
      query('page', 'The page number.'),
      query('limit', 'The number of files on a full page.'),
      {
        name: 'search',
        in: 'query',
        description: 'A part of the name, in upper or lower case.',
        schema: { type: 'string' },
      },
    ],
    successes: [{ status: 200, description: 'A page of files.', schema: 'FilesPage' }],
  },
  uploadFile: {
    tag: 'Files',
    description:
      'A form uploads the file at once. JSON asks for a direct upload, for large files and slow networks: send exactly the ' +
      `announced bytes to \`upload.url\` with \`upload.headers\`, then complete the upload. From the ` +
      `ticket on, the announced size counts as used storage. The PUT must begin within ${DIRECT_URL_TTL_MS / MINUTE_MS} minutes. \`DELETE\` cancels.`,
    parameters: [idempotencyKey],
    body: {
      description:
        'A form with one file part, under any field name, or the announcement of a direct upload. No `Content-Encoding`.',
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['file'],
            properties: {
              file: { type: 'string', contentMediaType: 'application/octet-stream', description: 'The file.' },
            },
          },
        },
        'application/json': { schema: ref('TicketRequest') },
      },
    },
    successes: [
      {
        status: 201,
        description: 'The file: of a form, or of the earlier request with this `Idempotency-Key`.',
        schema: 'FileRecord',
        headers: ['Location', 'Idempotency-Replayed'],
      },
      {
        status: 202,
        description: 'The ticket of a direct upload.',
        schema: 'UploadTicket',
        headers: ['Location', 'Idempotency-Replayed'],
      },
    ],
    errors: ['storage_limit_exceeded', 'idempotency_conflict', 'unsupported_media_type'],
  },
  getFile: {
    tag: 'Files',
    description:
      'A file of the account. The file of another account is 404, and so is a direct upload that is not complete.',
    parameters: [id('the file')],
    successes: [{ status: 200, description: 'The file.', schema: 'FileRecord' }],
    errors: ['not_found'],
  },
  deleteFile: {
    tag: 'Files',
    description:
      'The link stops working within 60 seconds. The id may also be that of a direct upload, which is cancelled.',
    parameters: [id('the file, or of the direct upload')],
    successes: [
      { status: 200, description: 'The file is deleted, or the direct upload cancelled.', schema: 'Deletion' },
    ],
    errors: ['not_found'],
  },
  completeUpload: {
    tag: 'Files',
    description: 'It may be repeated. Without it the arrival of the bytes completes the upload.',
    parameters: [id('the direct upload')],
    successes: [{ status: 201, description: 'The file.', schema: 'FileRecord', headers: ['Location'] }],
    errors: ['not_found', 'storage_limit_exceeded', 'upload_incomplete'],
  },
  listApiKeys: {
    tag: 'API keys',
    description: 'The keys of the account, newest first, without their secrets.',
    successes: [{ status: 200, description: 'The keys.', schema: 'ApiKeys' }],
  },
  createApiKey: {
    tag: 'API keys',
    description: 'The answer is the only one that holds the secret.',
    body: {
      description: `The name of the key, at most ${API_KEY_NAME.maxLength} characters.`,
      content: { 'application/json': { schema: ref('CreateKeyRequest') } },
    },
    successes: [{ status: 201, description: 'The new key.', schema: 'NewApiKey', headers: ['Location'] }],
    errors: ['api_key_limit_exceeded', 'unsupported_media_type'],
  },
  revokeApiKey: {
    tag: 'API keys',
    description: 'The key is refused from the next request on.',
    parameters: [id('the key')],
    successes: [{ status: 200, description: 'The key is revoked.', schema: 'Deletion' }],
    errors: ['not_found'],
  },
};
