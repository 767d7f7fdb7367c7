/** A decision where the contract is silent, and where its tests are. */
export interface ContractRow {
  /** Tests through the door stand under `describe('contract: <name>')`. */
  readonly name: string;
  readonly decision: string;
  /** Folders and files whose tests show it in pieces. */
  readonly pieces?: readonly string[];
}

/** Every row must have a test; `docs/contract.md` is made from this list and the names of the tests. */
export const CONTRACT_ROWS: readonly ContractRow[] = [
  {
    name: 'errors',
    decision: 'Every error, of every layer of ours, is exactly `{"error": code}` as JSON, with `X-Request-Id`.',
  },
  { name: 'codes', decision: 'Each code has one status and one meaning (README, "Errors").' },
  {
    name: 'order of checks',
    decision: 'Unknown route or method, then credential, cross-site, rate limit, then the request.',
  },
  {
    name: 'edge',
    decision: 'What does not come through CloudFront is 403 `forbidden` at the gateway, before a function runs.',
  },
  { name: 'head', decision: 'HEAD works wherever GET does, counted alike; `Allow` names it.' },
  { name: 'caching', decision: '`Cache-Control: no-store` on every answer of the API.' },
  { name: 'success', decision: 'Creation 201 with `Location`, a ticket 202, all else 200; always a JSON object.' },
  {
    name: 'upload form',
    decision:
      'One file part under any field name: the one with a file name; if no part has one, the only part with a type other than `text/plain`. Other fields and unselected inputs are ignored.',
    pieces: ['test/shared/upload-form/'],
  },
  {
    name: 'multipart',
    decision:
      'RFC 7578 and 2046 in full; a body that is cut is 400 and leaves nothing, and so is a file part that is encoded (base64, quoted-printable, gzip) or `multipart/mixed`.',
    pieces: ['test/shared/upload-form/'],
  },
  {
    name: 'name',
    decision:
      "The client's base name, cleaned, at most 255 bytes. It is read as UTF-8, else as windows-1252, and percent-decoded for the clients that encode it (aiohttp, needle).",
    pieces: ['test/shared/files/file-name.test.ts'],
  },
  {
    name: 'mime_type',
    decision:
      "The part's type if valid and not `application/octet-stream`, else by extension, else that (decision 0006).",
    pieces: ['test/shared/files/media-type.test.ts'],
  },
  { name: 'file record', decision: 'All six fields, always; the id is a UUIDv7.' },
  { name: 'url', decision: 'A random token and the encoded name; the key in S3 is the token alone.' },
  {
    name: 'download',
    decision:
      'True type and length, ranges, `nosniff`, disposition and CSP by type; an unknown link is 404. `If-Match` and `If-Unmodified-Since` are obeyed: 412 `invalid_request`. A range behind the end is the 416 of S3, with `Content-Range: bytes */<size>`, the one error of a link that is no JSON (decision 0013).',
    pieces: ['test/shared/files/content-disposition.test.ts', 'test/infra/edge/'],
  },
  {
    name: 'keys list',
    decision: '`{items}`, newest first; a name has 1 to 100 code points.',
    pieces: ['test/shared/api-keys/'],
  },
  {
    name: 'list order',
    decision:
      'Newest first; search is a case-insensitive part of the name, in which a `;` is a letter as any; bounds are errors; a page past the end is empty.',
    pieces: ['test/shared/files/'],
  },
  {
    name: 'direct uploads',
    decision:
      'A URL takes its bytes once: the PUT begins within 15 minutes, and the room is held for as long as it may take at 16 KiB/s; one completion at a time copies them (decisions 0022, 0023).',
    pieces: ['test/shared/files/direct-upload.test.ts', 'test/shared/files/sweep.test.ts'],
  },
  { name: 'sizes', decision: 'Exactly the limit fits, one byte more does not: for a file and for an account.' },
  {
    name: 'file count',
    decision:
      'At most `FILE_COUNT_LIMIT` files an account, else 403 `storage_limit_exceeded`; a direct upload that finds none left when it is completed is cancelled.',
    pieces: ['test/shared/accounts/allowance.test.ts'],
  },
  {
    name: 'bytes a day',
    decision:
      'An account sends at most `UPLOAD_BYTES_PER_DAY` in a UTC day, refused and deleted bytes counted; then 429 `rate_limit_exceeded` until the day ends.',
    pieces: ['test/shared/accounts/allowance.test.ts'],
  },
  {
    name: 'keys',
    decision:
      'Format with a checksum, stored hashed, shown once, at most 100, last use to the minute, revoked at once.',
    pieces: ['test/shared/api-keys/'],
  },
  { name: 'key management', decision: 'Keys are managed with a session alone.' },
  {
    name: 'rate limits',
    decision: 'Per account and class, in any 60 seconds; headers on every counted answer.',
    pieces: ['test/shared/rate-limit/'],
  },
  {
    name: 'streaming when places are short',
    decision:
      'While less than a quarter of the places of a streaming server is free, uploads slower than 128 KiB/s are cut, of the account with the most first (decision 0015).',
    pieces: ['test/functions/upload-stream/'],
  },
  {
    name: 'health',
    decision:
      '200 when database and storage answer within 2 s, else 503 with its own object; a process asks them every 3 s at most.',
  },
  {
    name: 'login',
    decision:
      'State, PKCE and nonce; every failure ends at the login page with a code. Where the login cannot even be tried (the limit, a dependency), a browser that navigates is sent to that page, too; any other client gets the JSON of the error.',
    pieces: ['test/shared/login/', 'test/shared/stack/navigation.test.ts'],
  },
  {
    name: 'session',
    decision:
      'Opaque token, stored hashed; idle and absolute end; logout kills it on the server, `DELETE /auth/sessions` all of the account. A hundred at most: the oldest makes room.',
    pieces: ['test/shared/sessions/', 'test/shared/http/cookies.test.ts'],
  },
  {
    name: 'cross-site',
    decision: "A cookie request that changes state comes from the dashboard's own origin.",
    pieces: ['test/shared/stack/cross-site.test.ts'],
  },
  { name: 'me', decision: 'Profile, storage used and limit, file count.' },
  {
    name: 'in time',
    decision:
      'What was told 504 `timeout` changes nothing afterwards; what only tidies up holds up no answer (decision 0017).',
    pieces: ['test/shared/time-limit.test.ts', 'test/infra/stacks/call-times.test.ts'],
  },
  { name: 'retries', decision: '`Idempotency-Key` on `POST /files`: one file, however often it is asked.' },
];
