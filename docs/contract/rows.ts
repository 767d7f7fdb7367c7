/** A decision about something that the contract leaves open, and where its tests are. */
export interface ContractRow {
  /** The tests of the public API that show the decision are in `describe('contract: <name>')`. */
  readonly name: string;
  readonly decision: string;
  /** Folders and files with tests of single parts that the decision needs. */
  readonly pieces?: readonly string[];
}

/** Every row must have a test of the public API. `docs/contract.md` is generated from this list and the names of the tests. */
export const CONTRACT_ROWS: readonly ContractRow[] = [
  {
    name: 'errors',
    decision:
      'Every error of every layer that we control is exactly `{"error": code}` as JSON, except the 503 of `/health`. Errors of functions, gateway and edge functions have `X-Request-Id`; the error pages of CloudFront have only its own `X-Amz-Cf-Id`. A 4xx of a function says why in `Error-Detail`, in printable ASCII.',
  },
  {
    name: 'codes',
    decision: 'Each code has one meaning and one status, with the exceptions that `docs/api.md` names ("Errors").',
  },
  {
    name: 'order of checks',
    decision: 'First unknown route or method, then credential, cross-site check, rate limit, then the request itself.',
  },
  {
    name: 'edge',
    decision:
      'The gateway answers requests that do not come through CloudFront with 403 `forbidden`, before a function runs.',
  },
  {
    name: 'ids',
    decision: 'An id may be written in upper case; answers have it in lower case (RFC 9562).',
  },
  {
    name: 'paths',
    decision:
      'Escapes of letters, digits and `-._~` in a path are decoded. A path with an empty or dot segment, with a slash at its end, or with a `%` that begins no escape is 404, with or without a credential.',
  },
  {
    name: 'optional fields',
    decision: 'In a JSON body null is the same as absence; unknown fields are ignored.',
  },
  { name: 'head', decision: 'HEAD works on every path that has GET, and counts like GET; `Allow` names HEAD as well.' },
  {
    name: 'caching',
    decision:
      'Every answer of the API has `Cache-Control: no-store`. (The OpenAPI document is a static file, which may be cached for five minutes.)',
  },
  {
    name: 'success',
    decision:
      'A creation is 201 with `Location`, a ticket 202, a redirect of the login 302, everything else 200. The body is always a JSON object, except that of a redirect.',
  },
  {
    name: 'upload form',
    decision:
      'A form has one file part, under any field name: the part with a file name or, if no part has one, the only part with a type other than `text/plain`. Other fields and unselected inputs are ignored.',
    pieces: ['test/shared/upload-form/'],
  },
  {
    name: 'multipart',
    decision:
      'RFC 7578 and RFC 2046 are supported, with two exceptions: a form is 400 when its file part is encoded (base64, quoted-printable, gzip), or when any part is `multipart/mixed`. A body that is cut off is 400 as well, and leaves nothing behind.',
    pieces: ['test/shared/upload-form/'],
  },
  {
    name: 'name',
    decision:
      "The name is the client's base name, cleaned, at most 255 bytes. It is read as UTF-8, otherwise as windows-1252, and percent-decoded for the clients that encode it (aiohttp, needle). A name that consists of encoded words (RFC 2047) is decoded, if the charset is known. `filename*` wins over `filename`, without quotes around its value.",
    pieces: ['test/shared/files/file-name.test.ts'],
  },
  {
    name: 'mime_type',
    decision:
      'The type is that of the part, if it is valid and says something, by its registered name: `image/jpg` becomes `image/jpeg`. Otherwise it is that of the extension, or else `application/octet-stream` (decision 0006).',
    pieces: ['test/shared/files/media-type.test.ts'],
  },
  { name: 'file record', decision: 'A record always has all six fields; the id is a UUIDv7.' },
  { name: 'url', decision: 'A link has a random token and the encoded name; the key in S3 has only the token.' },
  {
    name: 'download',
    decision:
      'A link is served with the type and length of the file, with `nosniff`, and with the `Content-Disposition` and `Content-Security-Policy` for its type. Ranges are supported. Images, audio, video, PDF and text that cannot execute (JSON, CSV, Markdown, source) are shown; the window of a browser gets such text as `text/plain` (decision 0006). Everything else is saved. With the query `download` the file is an attachment; any other query is ignored. Pages of every origin may read a link and its errors (decision 0042). An unknown link is 404. When `If-Match` or `If-Unmodified-Since` does not hold, the answer is 412 `invalid_request`. A range past the end is the 416 of S3 with `Content-Range: bytes */<size>`. All other errors of a link are JSON (decision 0013).',
    pieces: ['test/shared/files/content-disposition.test.ts', 'test/infra/edge/'],
  },
  {
    name: 'keys list',
    decision: 'The answer is `{items}`, newest first. The name of a key has 1 to 100 code points.',
    pieces: ['test/shared/api-keys/'],
  },
  {
    name: 'list order',
    decision:
      'The newest file comes first. `search` is a part of the name in upper or lower case, in which every separator is a space; a `;` in it is an ordinary character. Values out of bounds are errors. A page past the end is empty.',
    pieces: ['test/shared/files/'],
  },
  {
    name: 'direct uploads',
    decision:
      'A direct upload is a resource of its own (`/uploads`): a JSON request makes its ticket, and its file has the same id. If the `Idempotency-Key` stands for a complete upload, the answer has the `file` in the place of `upload` and `expires_at`, so that generated clients read both with one type. A URL takes its bytes once: then S3 answers 412, or 409 to a PUT that meets another of the same ticket and may be repeated. The PUT must begin within 15 minutes. The room is reserved for as long as the PUT may take at 16 KiB/s. One completion at a time copies the bytes (decisions 0022, 0023).',
    pieces: ['test/shared/files/direct-upload.test.ts', 'test/shared/files/sweep.test.ts'],
  },
  {
    name: 'sizes',
    decision: 'Exactly the limit fits, one byte more does not. This holds for a file and for an account.',
  },
  {
    name: 'file count',
    decision:
      'An account has at most `FILE_COUNT_LIMIT` files; one more is 403 `storage_limit_exceeded`. A direct upload becomes `refused` if the account has this number of files when the upload is completed.',
    pieces: ['test/shared/accounts/allowance.test.ts'],
  },
  {
    name: 'bytes a day',
    decision:
      'The bytes that an account sends in a UTC day are counted, including refused and deleted ones. The limit is `UPLOAD_BYTES_PER_DAY`, or the storage limit of the account if that is larger. An upload that would exceed it is 429 `rate_limit_exceeded` until the day ends. An upload that is repeated under its `Idempotency-Key` is still answered, until the account has sent more than twice the limit.',
    pieces: ['test/shared/accounts/allowance.test.ts'],
  },
  {
    name: 'keys',
    decision:
      'A key has a checksum, is stored as a hash and shown once. An account has at most 100 keys. The last use is exact to the minute. A revoked key is refused from the next request on.',
    pieces: ['test/shared/api-keys/'],
  },
  { name: 'key management', decision: 'Only a session can manage keys.' },
  {
    name: 'rate limits',
    decision:
      'Requests are counted per account and class (starts and callbacks of a login: per client address), in any 60 seconds. Every counted answer has the headers of its limit.',
    pieces: ['test/shared/rate-limit/'],
  },
  {
    name: 'streaming when places are short',
    decision:
      'A streaming server takes at most 16 large forms of one account at the same time. While less than a quarter of its places is free, it cuts refused bodies first, then the slowest; an upload of 128 KiB/s or more is never cut (decision 0015).',
    pieces: ['test/functions/upload-stream/'],
  },
  {
    name: 'health',
    decision:
      'The answer is 200 when database and storage answer within 2 s, otherwise 503 with an object that says which of the two is down. A process probes them at most every 3 s.',
  },
  {
    name: 'login',
    decision:
      'A login uses state, PKCE and nonce. It begins and ends at the configured address: a browser that uses another name of the service is first sent there. `prompt=select_account` lets a person choose another account. A link or request of another site (`Sec-Fetch-Site`) begins no login, and leads to the login page. A callback with a repeated parameter is refused. A callback that comes again leads to the dashboard if the browser is logged in. Every failure ends at the login page with a code. When the rate limit or a dependency prevents a login, a browser that navigates is sent to that page as well. Any other client gets the error as JSON.',
    pieces: ['test/shared/login/', 'test/shared/stack/login-page.test.ts'],
  },
  {
    name: 'session',
    decision:
      'A session is an opaque token, stored as a hash, with an idle and an absolute end. Logout ends it on the server; `DELETE /auth/sessions` ends all sessions of the account. An account has at most a hundred sessions: one more ends the oldest.',
    pieces: ['test/shared/sessions/', 'test/shared/http/cookies.test.ts'],
  },
  {
    name: 'sessions of an account',
    decision:
      'A session may list the sessions of its account that have not ended, and end one of them, also itself. `device` consists of names that the service knows (`Firefox on Linux`, `Unknown device`), never of text from a `User-Agent`. `last_used_at` is noted at most once an hour. A session that has ended, or belongs to another account, is 404. A key may do neither, because a leaked key must not tell where its owner is logged in, nor log the owner out.',
    pieces: ['test/shared/sessions/'],
  },
  {
    name: 'cross-site',
    decision: "A cookie request that changes state must come from the dashboard's own origin.",
    pieces: ['test/shared/stack/cross-site.test.ts'],
  },
  {
    name: 'usage',
    decision:
      'A key or a session may ask what the account uses, and what it may use: storage, files, bytes of the day, and the largest upload.',
  },
  { name: 'me', decision: 'The answer has the profile, the used storage, the storage limit and the number of files.' },
  {
    name: 'in time',
    decision:
      'A request is answered before its gateway cuts it off, and its function makes no call after the answer. Work that only cleans up delays an answer by at most two seconds (decision 0017).',
    pieces: ['test/shared/time-limit.test.ts', 'test/infra/stacks/call-times.test.ts'],
  },
  {
    name: 'retries',
    decision:
      '`POST /files` with the same `Idempotency-Key` makes one file, however often it is repeated within 24 hours. After a 5xx the outcome is unknown: the file may exist, or appear some minutes later. If it exists it is whole, charged and listed, and a retry under the same key gives it (decision 0040).',
  },
];
