/**
 * The limits that several parts of the service share. Durations are in milliseconds unless their name says otherwise. An operator may
 * change the {@link CONFIGURABLE_LIMITS}: on AWS in the file of the stage, under `npm start` in the environment. The stacks give these
 * limits to the functions as variables of the same names.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const STORAGE_LIMIT_DEFAULT_BYTES = 2_048 * MIB;
/** By default an account may send this many times `STORAGE_LIMIT_BYTES` in a day: enough for normal use, but bounded. */
const FILLS_PER_DAY = 25;

/** The limits that an operator may set, with their defaults and bounds (both inclusive). */
export const CONFIGURABLE_LIMITS = {
  MAX_UPLOAD_SIZE_BYTES: { default: 100 * MIB, min: 1, max: 5_000 * MIB, meaning: 'Largest file, in bytes of content' },
  STORAGE_LIMIT_BYTES: {
    default: STORAGE_LIMIT_DEFAULT_BYTES,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    meaning: 'Storage of one account, in bytes',
  },
  FILE_COUNT_LIMIT: {
    // The cost of a search grows with the number of files: docs/performance.md says what it is at worst.
    default: 100_000,
    min: 1,
    // The rows of an account are in one partition of the table, of at most 10 GB: a row, its copy in the index, and its part of a seal take
    // up to 1.8 KB. Source: DynamoDB, "Item collection size limit".
    max: 5_000_000,
    meaning: 'Files of one account',
  },
  UPLOAD_BYTES_PER_DAY: {
    default: FILLS_PER_DAY * STORAGE_LIMIT_DEFAULT_BYTES,
    // Zero is for a service that stores nothing.
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    meaning: `Bytes that one account may send in a day (UTC); if this variable is not set, ${FILLS_PER_DAY} × \`STORAGE_LIMIT_BYTES\``,
  },
  RATE_LIMIT_UPLOADS_PER_MINUTE: { default: 60, min: 1, max: 1_000_000, meaning: '`POST /files`, per account' },
  RATE_LIMIT_LISTS_PER_MINUTE: { default: 120, min: 1, max: 1_000_000, meaning: '`GET /files`, per account' },
  RATE_LIMIT_REQUESTS_PER_MINUTE: {
    default: 240,
    min: 1,
    max: 1_000_000,
    meaning: 'Every other authenticated route, per account',
  },
  RATE_LIMIT_LOGIN_STARTS_PER_MINUTE: {
    default: 20,
    min: 1,
    max: 1_000_000,
    meaning: '`GET /auth/google`, per client address; its callback has the same limit, counted separately',
  },
} as const satisfies Record<string, { default: number; min: number; max: number; meaning: string }>;

export type LimitName = keyof typeof CONFIGURABLE_LIMITS;

/**
 * The value of a configurable limit.
 * @param text  the variable's value; absent or empty means the default.
 * @throws Error naming the variable when it is not a whole number within its bounds.
 */
export function parseLimit(name: LimitName, text: string | undefined): number {
  const { default: fallback, min, max } = CONFIGURABLE_LIMITS[name];
  if (text === undefined || text === '') return fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new Error(`${name} must be a whole number from ${min} to ${max}, not "${text}"`);
  return value;
}

/**
 * Reads all configurable limits, as text, from a stage's file or an environment. An absent limit gets its default. If
 * `UPLOAD_BYTES_PER_DAY` is absent, it is computed from `STORAGE_LIMIT_BYTES`.
 * @throws Error naming the variable when a limit is not a whole number within its bounds.
 */
export function readLimits(environment: Readonly<Record<string, string | undefined>>): Record<LimitName, number> {
  const limits = Object.fromEntries(
    Object.keys(CONFIGURABLE_LIMITS).map((name) => [name, parseLimit(name as LimitName, environment[name])]),
  ) as Record<LimitName, number>;
  if (environment.UPLOAD_BYTES_PER_DAY) return limits;
  const followed = FILLS_PER_DAY * limits.STORAGE_LIMIT_BYTES;
  return { ...limits, UPLOAD_BYTES_PER_DAY: Math.min(followed, CONFIGURABLE_LIMITS.UPLOAD_BYTES_PER_DAY.max) };
}

/** Rate limits count the requests of any span of this length. */
export const RATE_WINDOW_MS = 60_000;

/**
 * The longest form of the inline lane. A Lambda event holds 6 MiB. In base64 a body is a third longer, so 4 MiB become 5.33 MiB, which
 * leaves room for the headers. Source: Lambda quotas, "Invocation payload".
 */
export const INLINE_BODY_MAX_BYTES = 4 * MIB;

/** How much a form may hold besides the file: part headers, text fields, preamble. */
export const MULTIPART_FRAMING_MAX_BYTES = 1 * MIB;

/**
 * How long the bytes of a deleted file stay in the bucket, behind a delete marker. In this time the operator can undo a mistake. No link
 * and no function's grant reaches these bytes. Decision 0010.
 */
export const DELETED_BYTES_KEPT_DAYS = 7;

/** The longest JSON body. The longest legitimate one (the request for a ticket with a name of 255 bytes, escaped) is under 2 KiB. */
export const JSON_BODY_MAX_BYTES = 64 * KIB;

export const FILE_NAME_MAX_BYTES = 255;
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 100;
export const PAGE_MAX = 2 ** 31 - 1;
export const API_KEY_NAME_MAX_CODE_POINTS = 100;
export const API_KEYS_PER_ACCOUNT_MAX = 100;

/** How long the record of an `Idempotency-Key` is kept. */
export const IDEMPOTENCY_TTL_MS = DAY_MS;

/** The lowest average rate at which an upload may arrive, in bytes a second. Even a phone with a weak signal sends faster. */
export const UPLOAD_SLOWEST_BYTES_PER_SECOND = 16 * KIB;
/**
 * How many requests one environment of the streaming function serves at the same time (its places). There are many places, because slow
 * clients hold them for a long time. But there are fewer places than the 50 connections that the SDK opens to S3, so that no upload waits
 * for a connection. An environment has 2 GB of memory, and an upload needs less than 20 MB. All uploads of an environment share its 1
 * Gbit/s. Decision 0015.
 */
export const STREAMING_PLACES_PER_ENVIRONMENT = 48;
/** How many of these places the uploads of one account may take: enough to upload a folder, too few to occupy the environment. */
export const STREAMING_PLACES_PER_ACCOUNT = 16;
/** The PUT of a direct upload must begin within this time after its URL was signed. S3 checks the expiry only when the PUT begins. */
export const DIRECT_URL_TTL_MS = 15 * MINUTE_MS;
/** The time from the end of the slowest PUT to the end of its ticket: enough for the event of the bucket and its two retries. */
const DIRECT_SETTLING_MS = 5 * MINUTE_MS;

/**
 * How long a ticket lives after its URL was signed. Even a PUT that begins at the last moment and is as slow as allowed ends before the
 * ticket does. The ticket of a small file lives for 20 minutes, that of 100 MiB for 2 h 7 min. The result is always a whole number of
 * seconds.
 */
export function directTicketMs(sizeBytes: number): number {
  const slowestPutMs = Math.ceil(sizeBytes / UPLOAD_SLOWEST_BYTES_PER_SECOND) * 1_000;
  return DIRECT_URL_TTL_MS + slowestPutMs + DIRECT_SETTLING_MS;
}

/** How many sessions an account may have. A login beyond this number ends the oldest session. */
export const SESSIONS_PER_ACCOUNT_MAX = 100;
/** A session ends after this long without a request. */
export const SESSION_IDLE_MS = 7 * DAY_MS;
/** A session ends this long after login at the latest, even while it is used. */
export const SESSION_MAX_MS = 30 * DAY_MS;
/** A login must be finished within this time after its start. */
export const LOGIN_ATTEMPT_MS = 10 * MINUTE_MS;

/**
 * The work of the sweeper has this many shards: partitions of tickets, partitions of the index of unfinished work, and ranges of the keys in
 * the bucket. The number is fixed, because it is part of the keys of rows; decision 0045 says why it is large enough. How many sweepers
 * share the shards is a setting.
 */
export const SHARDS = 128;

/** One of several sweepers. */
export interface Sweeper {
  /** Its number, from 0. */
  readonly sweeper: number;
  /** How many there are, 1 to {@link SHARDS}. */
  readonly sweepers: number;
}
