import { STREAMING_PLACES_PER_ENVIRONMENT } from '../../shared/limits.ts';
import type { RouteName } from '../../shared/routes.ts';
import type { BACKGROUND_ENTRIES } from '../bundle/entries.ts';
import type { Needs, TableUse } from '../constructs/needs.ts';

/** Authentication reads the credential once, and at times records its use. Rate limiting usually writes the window once. */
const BY_SESSION: readonly TableUse[] = [
  { table: 'sessions', actions: ['GetItem', 'UpdateItem'] },
  { table: 'rateLimits', actions: ['PutItem', 'UpdateItem'] },
];
const BY_KEY_OR_SESSION: readonly TableUse[] = [
  { table: 'apiKeys', actions: ['GetItem', 'UpdateItem'] },
  ...BY_SESSION,
];

/** Every function that authenticates needs the app's own origin, for the cross-site check. */
const AUTHENTICATED: Needs = { values: ['appUrl'], limits: ['RATE_LIMIT_REQUESTS_PER_MINUTE'] };

/** The access that storing and settling an upload needs in the inline and the streaming lane. */
const STORING: readonly TableUse[] = [
  // The update changes the row of a leaf, when the file fills that leaf.
  { table: 'files', actions: ['PutItem', 'UpdateItem'] },
  { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
  { table: 'idempotency', actions: ['GetItem', 'PutItem'] },
];
/** The access that settling a direct upload needs: it updates the ticket, and puts the row of the file. */
const SETTLING: readonly TableUse[] = [
  { table: 'files', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
  { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
  { table: 'idempotency', actions: ['PutItem'] },
];
const UPLOAD_LIMITS = [
  'MAX_UPLOAD_SIZE_BYTES',
  'STORAGE_LIMIT_BYTES',
  'FILE_COUNT_LIMIT',
  'UPLOAD_BYTES_PER_DAY',
  'RATE_LIMIT_UPLOADS_PER_MINUTE',
] as const;

export const ROUTE_NEEDS: Readonly<Record<RouteName, Needs>> = {
  health: {
    tables: [{ table: 'accounts', actions: ['GetItem'] }],
    uploads: [{ actions: ['ListBucket'] }],
  },
  startLogin: {
    tables: [{ table: 'rateLimits', actions: ['PutItem', 'UpdateItem'] }],
    secrets: ['loginProvider', 'originSecret'],
    values: ['appUrl'],
    limits: ['RATE_LIMIT_LOGIN_STARTS_PER_MINUTE'],
  },
  finishLogin: {
    tables: [
      { table: 'rateLimits', actions: ['PutItem', 'UpdateItem'] },
      { table: 'accounts', actions: ['UpdateItem', 'ConditionCheckItem'] },
      // It reads and writes the account's list of sessions, and ends the browser's previous session.
      { table: 'sessions', actions: ['GetItem', 'PutItem', 'DeleteItem'] },
    ],
    secrets: ['loginProvider', 'originSecret'],
    values: ['appUrl'],
    limits: ['RATE_LIMIT_LOGIN_STARTS_PER_MINUTE'],
    optional: ['ALLOWED_EMAIL_DOMAINS', 'ALLOWED_EMAILS'],
  },
  getMe: {
    ...AUTHENTICATED,
    tables: [...BY_SESSION, { table: 'accounts', actions: ['GetItem'] }],
    limits: ['RATE_LIMIT_REQUESTS_PER_MINUTE', 'STORAGE_LIMIT_BYTES'],
  },
  logout: {
    ...AUTHENTICATED,
    tables: [...BY_SESSION, { table: 'sessions', actions: ['DeleteItem'] }],
  },
  endSessions: {
    ...AUTHENTICATED,
    tables: [...BY_SESSION, { table: 'sessions', actions: ['DeleteItem'] }],
  },
  listFiles: {
    tables: [
      ...BY_KEY_OR_SESSION,
      { table: 'accounts', actions: ['GetItem'] },
      { table: 'files', actions: ['Query', 'BatchGetItem'] },
      { table: 'files', actions: ['Query'], index: 'by_seq' },
    ],
    values: ['appUrl', 'cdnUrl'],
    limits: ['RATE_LIMIT_LISTS_PER_MINUTE'],
  },
  uploadFile: {
    tables: [...BY_KEY_OR_SESSION, ...STORING, { table: 'files', actions: ['GetItem'] }],
    uploads: [
      { actions: ['PutObject', 'DeleteObject'], keys: ['uploads/*'] },
      // A URL that this function signs permits only what its role permits.
      { actions: ['PutObject'], keys: ['incoming/*'] },
    ],
    values: ['appUrl', 'cdnUrl'],
    limits: UPLOAD_LIMITS,
  },
  getFile: {
    tables: [...BY_KEY_OR_SESSION, { table: 'files', actions: ['GetItem'] }],
    values: ['appUrl', 'cdnUrl'],
    limits: ['RATE_LIMIT_REQUESTS_PER_MINUTE'],
  },
  deleteFile: {
    ...AUTHENTICATED,
    tables: [
      ...BY_KEY_OR_SESSION,
      { table: 'files', actions: ['GetItem', 'UpdateItem', 'DeleteItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
    uploads: [
      { actions: ['DeleteObject'], keys: ['uploads/*'] },
      // After a ticket is cancelled, an empty object blocks the PUT that the ticket allowed.
      { actions: ['PutObject'], keys: ['incoming/*'] },
    ],
  },
  completeUpload: {
    tables: [...BY_KEY_OR_SESSION, ...SETTLING],
    uploads: [
      { actions: ['GetObject'], keys: ['incoming/*'] },
      { actions: ['PutObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] },
      { actions: ['ListBucket'] },
    ],
    values: ['appUrl', 'cdnUrl'],
    limits: ['RATE_LIMIT_REQUESTS_PER_MINUTE', 'FILE_COUNT_LIMIT'],
  },
  listApiKeys: {
    ...AUTHENTICATED,
    tables: [...BY_SESSION, { table: 'apiKeys', actions: ['Query', 'BatchGetItem'] }],
  },
  createApiKey: {
    ...AUTHENTICATED,
    tables: [...BY_SESSION, { table: 'apiKeys', actions: ['PutItem'] }, { table: 'accounts', actions: ['UpdateItem'] }],
  },
  revokeApiKey: {
    ...AUTHENTICATED,
    tables: [
      ...BY_SESSION,
      { table: 'apiKeys', actions: ['GetItem', 'DeleteItem'] },
      { table: 'accounts', actions: ['UpdateItem'] },
    ],
  },
};

export const BACKGROUND_NEEDS: Readonly<Record<keyof typeof BACKGROUND_ENTRIES, Needs>> = {
  completeArrivedUpload: {
    tables: SETTLING,
    uploads: [
      { actions: ['GetObject', 'DeleteObject'], keys: ['incoming/*'] },
      { actions: ['PutObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] },
      { actions: ['ListBucket'] },
    ],
    limits: ['FILE_COUNT_LIMIT'],
  },
  canary: { values: ['appUrl', 'canaryKey'] },
  checkDeployment: { values: ['appUrl', 'canaryKey'], variables: { CHECK_SECONDS: '20' } },
  sweep: {
    tables: [
      { table: 'files', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'] },
      { table: 'files', actions: ['Query'], index: 'unfinished' },
      // The sweeper reads the names for the seals of leaves from this index.
      { table: 'files', actions: ['Query'], index: 'by_seq' },
      { table: 'accounts', actions: ['GetItem', 'UpdateItem'] },
    ],
    uploads: [
      { actions: ['GetObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] },
      { actions: ['DeleteObject'], keys: ['incoming/*'] },
      { actions: ['ListBucket', 'ListBucketMultipartUploads'] },
    ],
  },
};

/** The streaming server handles only `POST /files`, with the same checks as the function of that route. */
export const UPLOAD_STREAM_NEEDS: Needs = {
  tables: [...BY_KEY_OR_SESSION, ...STORING],
  uploads: [{ actions: ['PutObject', 'DeleteObject', 'AbortMultipartUpload'], keys: ['uploads/*'] }],
  secrets: ['originSecret'],
  values: ['appUrl', 'cdnUrl'],
  limits: UPLOAD_LIMITS,
  variables: { STREAMING_PLACES: String(STREAMING_PLACES_PER_ENVIRONMENT) },
};
