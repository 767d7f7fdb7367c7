import type {
  Answers,
  ApiKey,
  ApiKeyWithSecret,
  Deletion,
  FileRecord,
  FilesPage,
  Health,
  ListOfKeys,
  ListOfSessions,
  LoggedOut,
  Profile,
  SessionOfAccount,
  UploadTicket,
  Usage,
} from './answers.ts';
import { ERRORS } from './errors.ts';
import { FILE_NAME_MAX_BYTES } from './limits.ts';
import type { RequestBodyName, Schema } from './operation.ts';
import { API_KEY_NAME, CHECKSUM_SHA256 } from './request-rules.ts';

/** What a schema says besides the type. */
interface Annotations {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** The schemas that describe a TypeScript type, so that a schema which departs from `answers.ts` does not compile. */
type SchemaOf<Type> = { readonly $ref: string } | (Annotations & InlineSchemaOf<Type>);
type InlineSchemaOf<Type> = null extends Type
  ? { readonly type: readonly ['string', 'null']; readonly format?: string }
  : [Type] extends [string]
    ? { readonly type: 'string'; readonly format?: string; readonly enum?: readonly Type[] }
    : [Type] extends [number]
      ? { readonly type: 'integer'; readonly format?: string; readonly minimum?: number }
      : [Type] extends [boolean]
        ? { readonly type: 'boolean' }
        : Type extends readonly (infer Item)[]
          ? { readonly type: 'array'; readonly items: SchemaOf<Item> }
          : string extends keyof Type
            ? { readonly type: 'object'; readonly additionalProperties: SchemaOf<string> }
            : {
                readonly type: 'object';
                readonly required: readonly string[];
                readonly properties: PropertiesOf<Type>;
              };
type PropertiesOf<Type> = { readonly [Name in keyof Type]-?: SchemaOf<Exclude<Type[Name], undefined>> };

/** An object that always has all of these properties. */
function record<Type extends object>(description: string, properties: PropertiesOf<Type>) {
  return { type: 'object', description, required: Object.keys(properties), properties } as const;
}

const TIME = '2026-01-31T12:00:00.000Z';
const ID = '019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b';
const id = { type: 'string', format: 'uuid', examples: [ID] } as const;
const time = (description: string) =>
  ({ type: 'string', format: 'date-time', description: `${description} (ISO 8601, UTC).`, examples: [TIME] }) as const;
// Generators of clients take 32 bits for an integer without this format.
const bytes = (description: string) =>
  ({ type: 'integer', format: 'int64', minimum: 0, description: `${description}, in bytes.` }) as const;

const fileRecord = record<FileRecord>('A file. It always has these six fields.', {
  id,
  name: {
    type: 'string',
    description: `The name that the client sent, in Unicode NFC, without folders, control characters and spaces around it, cut to ${FILE_NAME_MAX_BYTES} bytes of UTF-8 before its ending. A name with nothing visible becomes \`file\`, with the ending of the type.`,
    examples: ['photo.jpg'],
  },
  mime_type: { type: 'string', description: 'The media type.', examples: ['image/jpeg'] },
  size_bytes: { ...bytes('The size'), examples: [48_213] },
  url: {
    type: 'string',
    format: 'uri',
    description:
      'The direct link, without a key, until the file is deleted. It takes `Range`, and pages of every origin may use it. Types that cannot run scripts are shown, others are saved; `?download` always saves.',
    examples: ['https://cdn.example.com/uploads/2Nf8cQ0xTq7mZ4LrVb9KsE/photo.jpg'],
  },
  created_at: time('When the upload was complete'),
});

const filesPage = record<FilesPage>('One page of files, newest first.', {
  items: { type: 'array', items: { $ref: '#/components/schemas/FileRecord' } },
  page: { type: 'integer', minimum: 1, description: 'The page number, from 1.', examples: [1] },
  limit: { type: 'integer', minimum: 1, description: 'The number of files on a full page.', examples: [50] },
  total: {
    type: 'integer',
    minimum: 0,
    description: 'The number of all files that match the search.',
    examples: [1],
  },
});

const uploadTicket = {
  ...record<UploadTicket>(
    'A direct upload. Send the bytes to `upload.url` with `upload.method` and `upload.headers`, then complete the upload. If `file` is there instead, the upload is complete.',
    {
      id,
      upload: {
        type: 'object',
        description:
          'The request that sends the bytes. It takes no API key. It may be repeated: 412 means that S3 has the bytes already (or that the upload was cancelled), so complete the upload; 409 that another request is sending them, so repeat it later.',
        required: ['method', 'url', 'headers'],
        properties: {
          method: { type: 'string', examples: ['PUT'] },
          url: {
            type: 'string',
            format: 'uri',
            description: 'A presigned URL of S3. Its errors are XML of S3.',
            examples: ['https://uploads.s3.amazonaws.com/incoming/4d7e/019c?X-Amz-Signature=4a5f'],
          },
          headers: {
            type: 'object',
            additionalProperties: { type: 'string' },
            description:
              'The headers to send with the bytes, besides those that the HTTP client sends by itself. One of those must be `Content-Length`, with the announced size: a chunked body is refused.',
            examples: [{ 'Content-Type': 'video/mp4', 'If-None-Match': '*' }],
          },
        },
      },
      expires_at: time('The PUT must begin before this time'),
      file: { $ref: '#/components/schemas/FileRecord' },
    },
  ),
  required: ['id'],
} as const;

const keyProperties = {
  id,
  name: { type: 'string', description: 'The name that its owner gave it.', examples: ['CI'] },
  key_prefix: {
    type: 'string',
    description: 'The first characters of the key, to tell keys apart.',
    examples: ['svc_live_a1B'],
  },
  created_at: time('When the key was made'),
  last_used_at: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the key was last used, accurate to the minute; null until its first use.',
    examples: [TIME],
  },
} as const satisfies PropertiesOf<ApiKey>;

const profile = record<Profile>('The person who is logged in.', {
  id,
  email: { type: 'string', format: 'email', examples: ['ada@example.com'] },
  name: { type: 'string', examples: ['Ada Lovelace'] },
  picture_url: { type: ['string', 'null'], format: 'uri', examples: [null] },
  created_at: time('When the account was made, by its first login'),
  storage_used_bytes: { ...bytes('What files and open direct uploads use'), examples: [48_213] },
  storage_limit_bytes: { ...bytes('The storage of the account'), examples: [2_147_483_648] },
  file_count: { type: 'integer', minimum: 0, description: 'The number of files.', examples: [1] },
});

const usage = record<Usage>('What the account uses, and what it may use.', {
  storage_used_bytes: { ...bytes('What files and open direct uploads use'), examples: [48_213] },
  storage_limit_bytes: { ...bytes('The storage of the account'), examples: [2_147_483_648] },
  file_count: { type: 'integer', minimum: 0, description: 'The number of files.', examples: [1] },
  file_count_limit: { type: 'integer', minimum: 0, description: 'The number of files that the account may have.' },
  sent_today_bytes: {
    ...bytes('What the account has sent since midnight (UTC), whether or not it was stored'),
    examples: [48_213],
  },
  sent_today_limit_bytes: { ...bytes('What the account may send in a day (UTC)'), examples: [53_687_091_200] },
  upload_max_bytes: { ...bytes('The largest file that one upload may bring'), examples: [104_857_600] },
});

const health = record<Health>('The state of the service.', {
  status: { type: 'string', enum: ['ok', 'degraded'], examples: ['ok'] },
  db: { type: 'string', enum: ['ok', 'error'], description: 'The state of the database.', examples: ['ok'] },
  storage: { type: 'string', enum: ['ok', 'error'], description: 'The state of the storage.', examples: ['ok'] },
});

const deletion = record<Deletion>('What was deleted.', {
  id,
  deleted: { type: 'boolean', description: 'Always true.' },
});

const ticketRequest = {
  type: 'object',
  description: 'What a direct upload will send.',
  required: ['name', 'mime_type', 'size_bytes'],
  properties: {
    name: {
      type: 'string',
      description: 'The name of the file. The file has it as `FileRecord` says.',
      examples: ['film.mp4'],
    },
    mime_type: {
      type: 'string',
      description:
        'The media type of the file. If it is none, or says nothing, such as `application/octet-stream`, the ending of the name decides.',
      examples: ['video/mp4'],
    },
    size_bytes: {
      ...bytes('The exact size of the file'),
      description: 'The exact size of the file, in bytes. A size above the limit is `file_too_large`.',
      examples: [52_428_800],
    },
    checksum_sha256: {
      type: ['string', 'null'],
      ...CHECKSUM_SHA256,
      description: 'The SHA-256 of the file, in base64. S3 then takes no other bytes.',
      examples: ['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='],
    },
  },
} as const;

const createKeyRequest = {
  type: 'object',
  description: 'What the new key is called.',
  required: ['name'],
  properties: {
    name: {
      type: 'string',
      ...API_KEY_NAME,
      description:
        'A name on one line, with something visible. It has no control characters, line breaks, or characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069).',
      examples: ['CI'],
    },
  },
} as const;

/** The schemas that operations refer to, by name. */
export const SCHEMAS = {
  FileRecord: fileRecord,
  FilesPage: filesPage,
  UploadTicket: uploadTicket,
  ApiKey: record<ApiKey>('An API key, without its secret.', keyProperties),
  ApiKeys: record<ListOfKeys>('The API keys of the account, newest first.', {
    items: { type: 'array', items: { $ref: '#/components/schemas/ApiKey' } },
  }),
  ApiKeyWithSecret: record<ApiKeyWithSecret>('A new API key, with its secret, which is shown only now.', {
    ...keyProperties,
    key: {
      type: 'string',
      description: 'The secret: send it as `Authorization: Bearer <key>`.',
      examples: [`svc_live_${'x'.repeat(49)}`],
    },
  }),
  Profile: profile,
  Usage: usage,
  Health: health,
  Deletion: deletion,
  LoggedOut: record<LoggedOut>('The session has ended.', {
    logged_out: { type: 'boolean', description: 'Always true.' },
  }),
  Session: record<SessionOfAccount>('A session: one browser that is logged in.', {
    id,
    device: {
      type: 'string',
      description:
        'The browser and the system, as the browser named them at the login. `Unknown device` if it named neither in a way that the service knows.',
      examples: ['Firefox on Linux'],
    },
    created_at: time('When the browser was logged in'),
    last_used_at: time('When the session was last used. The last use may be up to an hour later'),
    current: { type: 'boolean', description: 'True for the session that asks.' },
  }),
  Sessions: record<ListOfSessions>('The sessions of the account that have not ended, the newest login first.', {
    items: { type: 'array', items: { $ref: '#/components/schemas/Session' } },
  }),
  TicketRequest: ticketRequest,
  CreateKeyRequest: createKeyRequest,
  ErrorAnswer: {
    type: 'object',
    description: 'An error. It has exactly this field.',
    required: ['error'],
    properties: {
      error: {
        type: 'string',
        enum: Object.keys(ERRORS),
        description: 'The code of the error. Codes are never renamed.',
      },
    },
  },
} as const satisfies Readonly<Record<keyof Answers | 'TicketRequest' | 'CreateKeyRequest' | 'ErrorAnswer', Schema>>;

const inJson = (name: 'TicketRequest' | 'CreateKeyRequest') => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});

/** The bodies of requests, as the document describes them. */
export const REQUEST_BODIES: Readonly<
  Record<
    RequestBodyName,
    { readonly description: string; readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  >
> = {
  UploadForm: {
    description: 'A form with one file part, under any field name. No `Content-Encoding`.',
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file'],
          properties: {
            // Generators of clients know `format: binary` of OpenAPI 3.0, and send text otherwise.
            file: {
              type: 'string',
              format: 'binary',
              contentMediaType: 'application/octet-stream',
              description: 'The file.',
            },
          },
        },
      },
    },
  },
  TicketRequest: { description: 'What the direct upload will send.', content: inJson('TicketRequest') },
  CreateKeyRequest: {
    description: `The name of the key, at most ${API_KEY_NAME.maxLength} characters.`,
    content: inJson('CreateKeyRequest'),
  },
};
