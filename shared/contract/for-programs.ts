import { ERRORS, type ErrorCode } from './errors.ts';
import { IDEMPOTENCY_TTL_MS, type LimitName, RATE_WINDOW_MS } from './limits.ts';
import { DIRECT_URL_MINUTES, HEADERS, type HeaderName, type Schema } from './operation.ts';
import { RATE_CLASSES, type RouteContract } from './route.ts';
import { samplesOf } from './samples.ts';
import { REQUEST_BODIES, SCHEMAS } from './schemas.ts';

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
 * @param address  that of the deployment. The page in docs/ is of no deployment, and names none.
 */
export function forPrograms(
  routes: readonly RouteContract[],
  limits: Readonly<Record<LimitName, number>>,
  address?: string,
): string {
  const ofKeys = routes.filter(({ access }) => access === 'key-or-session');
  const sampleOf = (route: string, wanted: string) =>
    samplesOf(ofKeys.find(({ name }) => name === route) as RouteContract).find(({ label }) => label === wanted)?.source;
  return `# File hosting

> Upload a file with one HTTPS request, and get a direct link that everyone can open. This page has all that a program needs.

- Address: ${address === undefined ? 'the origin that serves this page' : `\`${address}\``}. The samples read it from the variable \`FILE_HOSTING_URL\`.
  The OpenAPI document is \`GET /api/v1/openapi.json\`.
- Credential: an API key, as \`Authorization: Bearer <key>\`. The samples read it from \`FILE_HOSTING_KEY\`. A person makes it at
  \`/dashboard/api-keys\`. It is a secret: never write it into code, a page or a URL.
- A file may have at most ${limits.MAX_UPLOAD_SIZE_BYTES.toLocaleString('en-US')} bytes.
- Ignore fields and headers of answers that are not on this page: there may be more.

## Upload

\`\`\`sh
${sampleOf('uploadFile', 'curl')}
\`\`\`

The answer is 201 with \`id\`, \`name\`, \`mime_type\`, \`size_bytes\`, \`url\` and \`created_at\`. \`url\` is the link. With a new
\`Idempotency-Key\` for each file, an upload can be repeated for ${IDEMPOTENCY_TTL_MS / HOUR_MS} hours and makes one file.

\`\`\`ts
${sampleOf('uploadFile', 'TypeScript')}
\`\`\`

\`\`\`python
${sampleOf('uploadFile', 'Python')}
\`\`\`

Large files go directly to the storage: ask for a ticket, send the bytes to its URL, complete it. The PUT must begin within ${DIRECT_URL_MINUTES} minutes.

\`\`\`sh
${sampleOf('createUpload', 'curl, the whole upload')}
\`\`\`

\`\`\`python
${sampleOf('createUpload', 'Python, the whole upload')}
\`\`\`

## What a key may do

${ofKeys.map((route) => routeSection(route, limits)).join('\n\n')}

## Answers

${answersOf(ofKeys)
  .map((name) => [`### \`${name}\``, '', ...fieldsOf(SCHEMAS[name])].join('\n'))
  .join('\n\n')}

## Headers of answers

${headersOf(ofKeys)
  .map((name) => `- \`${name}\`: ${HEADERS[name]}`)
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

function routeSection(route: RouteContract, limits: Readonly<Record<LimitName, number>>): string {
  const { description, parameters = [], body, successes, errors = [] } = route.operation;
  const answers = successes.map(({ status, body, headers = [] }) =>
    [`${status} \`${body}\``, ...(headers.length > 0 ? [`with ${code(headers)}`] : [])].join(' '),
  );
  return [
    `### \`${route.method} ${route.path}\``,
    '',
    `${route.purpose}. ${description}`,
    '',
    ...parameters.map(parameterLine),
    ...(body
      ? Object.entries(REQUEST_BODIES[body].content).flatMap(([type, { schema }]) => bodyLines(type, schema))
      : []),
    `- answer: ${answers.join(', or ')}`,
    ...(errors.length > 0 ? [`- errors that not every request may get: ${code(errors)}`] : []),
    ...(route.rateClass
      ? [
          `- at most ${limits[RATE_CLASSES[route.rateClass]]} in any ${RATE_WINDOW_MS / 1_000} seconds, together with the others that \`RateLimit\` calls \`${route.rateClass}\``,
        ]
      : []),
  ].join('\n');
}

function parameterLine({ name, in: place, required, description, schema }: Schema): string {
  const presence = required ? 'required' : 'optional';
  return `- ${place} \`${name}\` (${presence}, ${rulesOf(schema as Schema)}): ${description}`;
}

function bodyLines(type: string, schema: Schema): string[] {
  const body: Schema & { readonly required?: readonly string[] } = schema.$ref ? SCHEMAS[nameIn(schema)] : schema;
  const presence = (name: string) => (body.required?.includes(name) ? 'required, ' : 'optional, ');
  return [`- body: \`${type}\``, ...fieldsOf(body, presence).map((line) => `  ${line}`)];
}

/** A line for each field of an object, and of the objects in it. */
function fieldsOf(schema: Schema, presence = (_name: string) => '', prefix = ''): string[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, Schema>> };
  return Object.entries(properties).flatMap(([name, field]) => [
    `- \`${prefix}${name}\` (${presence(name)}${rulesOf(field)})${field.description ? `: ${field.description}` : ''}`,
    ...fieldsOf(field, presence, `${prefix}${name}.`),
  ]);
}

/** The type and the bounds of a value. */
function rulesOf(schema: Schema): string {
  const { type, format, items, default: fallback, minimum, maximum, maxLength, pattern, $ref } = schema;
  return [
    $ref ? `\`${nameIn(schema)}\`` : [type].flat().join(' or '),
    ...(items ? [`of ${rulesOf(items as Schema)}`] : []),
    ...(format ? [format] : []),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(pattern === undefined ? [] : [`\`${pattern}\``]),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
  ].join(', ');
}

const nameIn = ({ $ref }: Schema) => String($ref).split('/').at(-1) as keyof typeof SCHEMAS;

/** The schemas of these routes' successes. */
function answersOf(routes: readonly RouteContract[]): (keyof typeof SCHEMAS)[] {
  const names = routes.flatMap(({ operation }) => operation.successes.flatMap(({ body }) => body ?? []));
  return [...new Set(names)];
}

/** The headers of every answer, and those of these routes' successes. */
function headersOf(routes: readonly RouteContract[]): HeaderName[] {
  const own = routes.flatMap(({ operation }) => operation.successes.flatMap(({ headers = [] }) => headers));
  return [
    ...new Set<HeaderName>(['X-Request-Id', 'RateLimit-Policy', 'RateLimit', 'Error-Detail', 'Retry-After', ...own]),
  ];
}

const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
