import { ERRORS, type ErrorCode } from './errors.ts';
import { type LimitName, RATE_WINDOW_MS } from './limits.ts';
import { HEADERS, type HeaderName, type Schema, TAGS } from './operation.ts';
import { methodsOf, RATE_CLASSES, type RateClass, type RouteContract } from './route.ts';
import { samplesOf } from './samples.ts';
import { REQUEST_BODIES, SCHEMAS } from './schemas.ts';

/** The path under which the service serves its document. */
export const OPENAPI_PATH = '/api/v1/openapi.json';

/** An OpenAPI 3.1 document. Only the parts that our code reads have exact types. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Schema>>;
    readonly [part: string]: unknown;
  };
  readonly [part: string]: unknown;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters: readonly Schema[];
  readonly requestBody?: {
    readonly required: true;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<Record<string, Schema>>;
  readonly [part: string]: unknown;
}

const VERSION = '1.0.0';

/** Errors that edge, gateway and functions may answer every request with. */
const ERRORS_OF_EVERY_ROUTE: readonly ErrorCode[] = [
  'invalid_request',
  'forbidden',
  'length_required',
  'file_too_large',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
  'timeout',
];

/** The statuses with which CloudFront itself may answer, in HTML. For others that it makes there is a page in JSON (decision 0012). */
export const STATUSES_OF_CLOUDFRONT: readonly number[] = [400, 403, 503, 504];

/** CloudFront answers a URL that is too long with this status. The table of errors has no code for it. */
export const URL_TOO_LONG = 414;

/**
 * Makes the OpenAPI document of the API. It comes from the declarations of the routes, the table of errors, the shapes of the answers, and
 * the rules that requests are checked by.
 * @param limits  those of the deployment that serves the document.
 * @param sessionCookie  the name of the cookie there.
 */
export function openApiDocument(
  routes: readonly RouteContract[],
  limits: Readonly<Record<LimitName, number>>,
  sessionCookie = '__Host-session',
): OpenApiDocument {
  const responses: Record<string, Schema> = { UrlTooLong: urlTooLong };
  const paths: Record<string, Record<string, DocumentedOperation>> = {};
  for (const route of routes) {
    const operation = documented(route, responses);
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation,
      ...(methodsOf(route).includes('HEAD') && { head: withoutBodies(operation) }),
    };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'File hosting',
      version: VERSION,
      summary: 'Upload a file with one request, get a direct link.',
      description: describe(limits),
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '/',
        description:
          'The service that serves this document. A client that was made from a file must be told its address.',
      },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...SCHEMAS, TicketRequest: withLargest(SCHEMAS.TicketRequest, limits.MAX_UPLOAD_SIZE_BYTES) },
      responses,
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, description]) => [name, headerObject(name, description)]),
      ),
      securitySchemes: {
        ByKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_live_<secret>',
          description:
            'An API key, made in the dashboard (`/dashboard`). It begins with `svc_live_`, that of a local service with `svc_test_`. Keep it secret: it must not get into web pages or repositories.',
        },
        BySession: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: 'The cookie of a person who is logged in, for the dashboard. Programs use `ByKey` alone.',
        },
      },
    },
  };
}

function describe(limits: Readonly<Record<LimitName, number>>): string {
  const perMinute = (rateClass: RateClass) => limits[RATE_CLASSES[rateClass]].toLocaleString('en-US');
  return [
    'To begin, log in at `/dashboard`, make an API key, and send it as `Authorization: Bearer <key>`. `POST /api/v1/files` uploads a file in a',
    'form; the `url` in the answer is its link. For large files (from 4 MiB on) and slow networks use a direct upload: `POST /api/v1/uploads`, a PUT of the bytes to',
    '`upload.url` of the answer, then `POST /api/v1/uploads/{id}/complete`.',
    '',
    'Every success is a JSON object, except the redirects of the login. Every error is `{"error": "<code>"}`; of 4xx the header `Error-Detail` says',
    'why. Only the 503 of `/health` says what is down instead. Other paths of the API are 404 `not_found`; methods that a path does not',
    `have are 405 \`method_not_allowed\`. CloudFront itself may answer ${new Intl.ListFormat('en-GB').format(STATUSES_OF_CLOUDFRONT.map(String))}, in HTML.`,
    '',
    `A file may have at most ${limits.MAX_UPLOAD_SIZE_BYTES.toLocaleString('en-US')} bytes. In any ${RATE_WINDOW_MS / 1_000} seconds an account may send ${perMinute('uploads')} uploads (a form or a ticket), ${perMinute('lists')}`,
    `lists and ${perMinute('requests')} other requests, by all its keys and sessions together; \`RateLimit\` says how many are left. \`GET /api/v1/usage\` has the limits`,
    'of the storage, of the number of files, and of the bytes of a day. Retry 429 and 5xx with exponential backoff, not before `Retry-After`,',
    'which may be hours when the bytes of the day are used up.',
    '',
    'A 5xx, or a lost connection, means that the outcome is unknown: the request may have happened, or may still happen within some',
    'minutes. If the file of an upload exists, it is whole, charged and listed. The same upload under the same `Idempotency-Key` gives this',
    'file, or makes it. Without that header, a repeated upload may make a second file. After a 4xx the request has made no file, and will make',
    'none. A repeated DELETE is 404 if the first one has happened.',
    '',
    'The samples read the address of the service from the variable `FILE_HOSTING_URL`, and the key from `FILE_HOSTING_KEY`. Those in TypeScript',
    'use the package `file-hosting-client`, which is in the repository of the service (`clients/typescript`).',
  ].join('\n');
}

const headerObject = (name: string, description: string) => ({
  description,
  schema: name === 'Retry-After' ? { type: 'integer', minimum: 0 } : { type: 'string' },
});

/** A request for a ticket states the largest file of its deployment. */
function withLargest(request: typeof SCHEMAS.TicketRequest, maximum: number): Schema {
  const { properties, ...rest } = request;
  return { ...rest, properties: { ...properties, size_bytes: { ...properties.size_bytes, maximum } } };
}

function documented(route: RouteContract, responses: Record<string, Schema>): DocumentedOperation {
  const { tag, description, parameters = [], body, successes } = route.operation;
  const headersOfEvery: HeaderName[] = [
    'X-Request-Id',
    ...(route.rateClass ? (['RateLimit-Policy', 'RateLimit'] as const) : []),
  ];
  return {
    operationId: route.name,
    summary: route.purpose,
    description,
    tags: [tag],
    security: securityOf(route),
    parameters,
    ...(body && { requestBody: { required: true, ...REQUEST_BODIES[body] } }),
    responses: {
      ...Object.fromEntries(
        successes.map(({ status, description, body, headers = [] }) => [
          status,
          {
            description,
            headers: refsOf([...headersOfEvery, ...headers]),
            ...(body && { content: { 'application/json': { schema: { $ref: `#/components/schemas/${body}` } } } }),
          },
        ]),
      ),
      ...errorResponses(route, responses),
    },
    ...samples(route),
  };
}

function samples(route: RouteContract) {
  const all = samplesOf(route);
  return all.length > 0 && { 'x-codeSamples': all };
}

/** HEAD is answered like GET, without a body. */
function withoutBodies({ 'x-codeSamples': _, ...operation }: DocumentedOperation): DocumentedOperation {
  const answers = Object.keys(operation.responses).map((status) => [
    status,
    { description: `As with GET: the status and headers of ${status}, without a body.` },
  ]);
  return {
    ...operation,
    operationId: `${operation.operationId}Head`,
    summary: `The headers of: ${operation.summary}`,
    responses: Object.fromEntries(answers),
  };
}

function securityOf({ access }: RouteContract): Schema[] {
  if (access === 'public') return [];
  return access === 'session' ? [{ BySession: [] }] : [{ ByKey: [] }, { BySession: [] }];
}

/** The error answers of a route, by status. */
function errorResponses(route: RouteContract, responses: Record<string, Schema>): Record<string, Schema> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const all = Object.fromEntries([...byStatus].map(([status, codes]) => [status, respondWith(codes, responses)]));
  const inAll = { ...all, [URL_TOO_LONG]: { $ref: '#/components/responses/UrlTooLong' } };
  return route.name === 'health' ? { ...inAll, 503: unhealthy } : inAll;
}

/** CloudFront makes this answer itself, so it has no `X-Request-Id`. */
const urlTooLong: Schema = {
  description: '`invalid_request`: the URL is longer than CloudFront accepts.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
};

/** A 503 of `/health` has the state of the service in its body; a 503 of the gateway in front of it has an error. */
const unhealthy: Schema = {
  description: 'A dependency is down (`status` is `degraded`), or the service cannot be reached.',
  headers: refsOf(['X-Request-Id', 'X-Commit', 'Retry-After']),
  content: {
    'application/json': {
      schema: { anyOf: [{ $ref: '#/components/schemas/Health' }, { $ref: '#/components/schemas/ErrorAnswer' }] },
    },
  },
};

/** The codes of a route, each once, in the order of the table of errors. */
function errorsOf({ access, operation: { errors = [] } }: RouteContract): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    ...ERRORS_OF_EVERY_ROUTE,
    ...(access === 'public' ? [] : (['unauthorized'] as const)),
    ...errors,
  ]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Refers to the response with these codes of one status, and adds it to `responses`. */
function respondWith(codes: readonly ErrorCode[], responses: Record<string, Schema>): Schema {
  const name = codes.map(pascalCase).join('Or');
  const [first = 'internal_error'] = codes;
  const { status } = ERRORS[first];
  // The answer to a counted request has the headers of the limit, even if the answer is an error.
  const headers: HeaderName[] = ['X-Request-Id', 'RateLimit-Policy', 'RateLimit'];
  if (status < 500) headers.push('Error-Detail');
  if (status === 429 || status === 503) headers.push('Retry-After');
  responses[name] = {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(' '),
    headers: refsOf(headers),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorAnswer' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: { error: code } }])),
      },
    },
  };
  return { $ref: `#/components/responses/${name}` };
}

const pascalCase = (code: string) => code.replaceAll(/(?:^|_)(\w)/g, (_match, first: string) => first.toUpperCase());

function refsOf(names: readonly HeaderName[]): Schema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
