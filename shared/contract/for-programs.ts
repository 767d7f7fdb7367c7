import { ERRORS, type ErrorCode } from './errors.ts';
import { IDEMPOTENCY_TTL_MS, type LimitName } from './limits.ts';
import { DIRECT_URL_MINUTES } from './operation.ts';
import type { RouteContract } from './route.ts';
import { directUploadScript, samplesOf } from './samples.ts';

/** The path of the API's description for language models; https://llmstxt.org describes such files. */
export const FOR_PROGRAMS_PATH = '/llms.txt';

/** What a program does about each error. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Do not repeat the request: correct the form, the JSON, the parameter or the header.',
  unauthorized: 'Do not repeat the request: ask the person for another key.',
  storage_limit_exceeded: 'Do not repeat the request: files must be deleted first, or the limit raised.',
  forbidden:
    'Use an API key. A request with a cookie needs `Origin` with the address of the service, or `Sec-Fetch-Site: same-origin`.',
  api_key_limit_exceeded: 'A person must revoke a key first.',
  not_found:
    'The path is wrong, or the file or key is deleted or belongs to another account. After a repeated DELETE, this error means that the first DELETE succeeded.',
  method_not_allowed: 'Use a method that `Allow` lists.',
  upload_incomplete: 'Send the bytes to `upload.url`, then complete the upload again.',
  idempotency_conflict: 'Use a new `Idempotency-Key` for another file.',
  length_required: 'Send `Content-Length`.',
  file_too_large: 'Do not repeat the request: the file or the body is larger than the service takes.',
  unsupported_media_type: 'Send `multipart/form-data` or `application/json`, without `Content-Encoding`.',
  rate_limit_exceeded: 'Wait as many seconds as `Retry-After` says, then repeat the request.',
  internal_error:
    'Repeat the request with the same `Idempotency-Key`, with exponential backoff. If this does not help, report the `X-Request-Id`.',
  service_unavailable:
    'Wait as many seconds as `Retry-After` says, at least one, then repeat the request with the same `Idempotency-Key`.',
  timeout: 'Repeat the request with the same `Idempotency-Key`.',
};

const HOUR_MS = 3_600_000;

/**
 * The page at {@link FOR_PROGRAMS_PATH}, in Markdown: all that a program that writes programs needs to upload files and handle errors.
 * @param limits  those of the deployment that serves it.
 */
export function forPrograms(
  routes: readonly RouteContract[],
  limits: Pick<Record<LimitName, number>, 'MAX_UPLOAD_SIZE_BYTES'>,
): string {
  const samples = samplesOf(routes.find(({ name }) => name === 'uploadFile') as RouteContract);
  const sampleIn = (language: string) => samples.find(({ lang }) => lang === language)?.source ?? '';
  return `# File hosting

> Upload a file with one HTTPS request, and get a direct link that everyone can open. This page has all that a program needs.

- Address: \`FILE_HOSTING_URL\`, the address of the service. Its OpenAPI document, \`GET /api/v1/openapi.json\`, has every detail.
- Credential: \`FILE_HOSTING_KEY\`, an API key, as \`Authorization: Bearer <key>\`. A person makes it at \`/dashboard/api-keys\`. It is a
  secret: never write it into code, a page or a URL.
- A file may have at most ${limits.MAX_UPLOAD_SIZE_BYTES.toLocaleString('en-US')} bytes.

## Upload

\`\`\`sh
${sampleIn('Shell')}
\`\`\`

The answer is 201 with \`id\`, \`name\`, \`mime_type\`, \`size_bytes\`, \`url\` and \`created_at\`. \`url\` is the link. With a new
\`Idempotency-Key\` for each file, an upload can be repeated for ${IDEMPOTENCY_TTL_MS / HOUR_MS} hours and makes one file.

\`\`\`ts
${sampleIn('TypeScript')}
\`\`\`

\`\`\`python
${sampleIn('Python')}
\`\`\`

Large files go directly to the storage: ask for a ticket, send the bytes to its URL, complete it. The PUT must begin within ${DIRECT_URL_MINUTES} minutes.

\`\`\`sh
${directUploadScript}
\`\`\`

## What a key may do

${routes
  .filter(({ access }) => access === 'key-or-session')
  .map(({ method, path, purpose }) => `- \`${method} ${path}\`: ${purpose}`)
  .join('\n')}

## Errors

An error is \`{"error": "<code>"}\`. Decide by the code; if a proxy has answered without one, decide by the status.

| Status | \`error\` | What to do |
| --- | --- | --- |
${Object.entries(ERRORS)
  .map(([code, { status }]) => `| ${status} | \`${code}\` | ${ADVICE[code as ErrorCode]} |`)
  .join('\n')}

After a 5xx or a lost connection the outcome is unknown: the file may exist, or appear some minutes later. The same upload under the same
\`Idempotency-Key\` gives this file, or makes it. Repeat five times at most, after random waits of up to 1, 2, 4, 8 and 16 seconds, never before
\`Retry-After\`.
`;
}
