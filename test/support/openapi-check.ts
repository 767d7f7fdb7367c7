import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ROUTES } from '../../functions/routes.ts';
import type { Exchange } from '../../local-aws/service.ts';
import {
  OPENAPI_PATH,
  type OpenApiDocument,
  openApiDocument,
  STATUSES_OF_CLOUDFRONT,
  URL_TOO_LONG,
} from '../../shared/contract/document.ts';
import { readLimits } from '../../shared/contract/limits.ts';
import { HEADERS, type Schema } from '../../shared/contract/operation.ts';

const DOCUMENT: OpenApiDocument = openApiDocument(Object.values(ROUTES), readLimits({}));
/** Paths of the API; the app's distribution also serves the dashboard. */
const API = /^\/(?:api\/|health$)/;

/** CloudFront makes these answers itself when the URL is too long, or a server cannot be reached or has cut the connection. */
const STATUSES_WITHOUT_ID: ReadonlySet<number> = new Set([URL_TOO_LONG, 503]);

const ajv = addFormats.default(new Ajv2020({ strict: false, coerceTypes: false, allErrors: true }));
ajv.addSchema({ $id: 'document', components: closed(DOCUMENT.components) });
/** Converts texts to the types of the schema, because the values of headers, queries and paths are texts. */
const ajvOfTexts = addFormats.default(new Ajv2020({ strict: false, coerceTypes: true, allErrors: true }));

/** Forbids fields that are not in the document in every object of an answer. The body of a request may have others. */
function closed(components: OpenApiDocument['components']): Schema {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close);
    if (typeof value !== 'object' || value === null) return value;
    const inside = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, close(part)]));
    return 'properties' in inside ? { additionalProperties: false, ...inside } : inside;
  };
  const { TicketRequest, CreateKeyRequest, ...answers } = components.schemas;
  return {
    schemas: { TicketRequest, CreateKeyRequest, ...(close(answers) as Schema) },
    responses: close(components.responses),
  };
}

/**
 * Compares a request and its answer with the OpenAPI document.
 * @returns a sentence for each way in which the answer, or a request that was accepted, departs from the document.
 */
export function departures(exchange: Exchange): string[] {
  const path = canonical(exchange.path);
  if (!API.test(path) || path === OPENAPI_PATH) return [];
  const { headers, status } = exchange;
  const type = headers.get('content-type')?.[0] ?? '';
  const isOfCloudFront = /^text\/html\b/.test(type) && STATUSES_OF_CLOUDFRONT.includes(status);
  const found = isOfCloudFront ? [] : [...problemsOfAnswer(exchange, path), ...problemsOfRequest(exchange, path)];
  return found.map((problem) => `${exchange.method} ${exchange.path} ${status}: ${problem}`);
}

/** Decodes a path as the edge does: letters, digits and `-._~` are not escaped in it. */
function canonical(path: string): string {
  return path.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  });
}

function operationOf({ method }: Exchange, path: string) {
  const template = Object.keys(DOCUMENT.paths).find((candidate) => matches(candidate, path));
  return template === undefined ? undefined : DOCUMENT.paths[template]?.[method.toLowerCase()];
}

const matches = (template: string, path: string) =>
  new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

function problemsOfAnswer(exchange: Exchange, path: string): string[] {
  const { status, headers, body } = exchange;
  const operation = operationOf(exchange, path);
  const problems = headers.has('x-request-id') || STATUSES_WITHOUT_ID.has(status) ? [] : ['no X-Request-Id'];
  if (!operation) {
    // A path or a method that the document does not have.
    if (status < 400) problems.push('answered, although the document has no such operation');
    return [...problems, ...problemsOfBody({ $ref: 'document#/components/schemas/ErrorAnswer' }, body)];
  }
  const response = resolved(operation.responses[status]);
  if (!response) return [...problems, 'the document has no such status'];
  const documented = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
  // The answer to HEAD refers to that of GET.
  for (const name of exchange.method === 'HEAD' ? [] : Object.keys(HEADERS)) {
    if (headers.has(name.toLowerCase()) && !documented.has(name.toLowerCase())) problems.push(`header ${name}`);
  }
  const { schema, examples } = response.content?.['application/json'] ?? {};
  const codes = Object.keys(examples ?? {});
  const code = status >= 400 && body ? /"error":"(\w+)"/.exec(body.toString())?.[1] : undefined;
  if (code !== undefined && codes.length > 0 && !codes.includes(code)) problems.push(`the code ${code}`);
  if (schema) return [...problems, ...problemsOfBody(withDocument(schema), body)];
  return body === undefined || body.length === 0 ? problems : [...problems, 'a body'];
}

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The examples of an error are its codes. */
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
}

/** Follows the reference to a shared answer. */
function resolved(response: Schema | undefined): Response | undefined {
  const name = /^#\/components\/responses\/(\w+)$/.exec(String(response?.$ref))?.[1];
  return (name === undefined ? response : DOCUMENT.components.responses[name]) as Response | undefined;
}

/** Changes the references in a schema, so that they refer to the document that the validator knows, whose objects are closed. */
function withDocument(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as Schema;
}

const compiled = new Map<string, ValidateFunction>();

function validator(schema: Schema, by = ajv): ValidateFunction {
  const key = JSON.stringify([schema, by === ajv]);
  const known = compiled.get(key) ?? by.compile(schema);
  compiled.set(key, known);
  return known;
}

function problemsOfBody(schema: Schema, body: Buffer | undefined): string[] {
  // The answer to HEAD has no body.
  if (body === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return [`the body is not JSON: ${body.subarray(0, 100)}`];
  }
  const validate = validator(schema);
  return validate(value) ? [] : [`${ajv.errorsText(validate.errors)} in ${body.subarray(0, 300)}`];
}

/** A request that was accepted must follow the document; one that was refused need not. */
function problemsOfRequest(exchange: Exchange, path: string): string[] {
  const operation = operationOf(exchange, path);
  if (!operation || exchange.status >= 400) return [];
  const query = new URLSearchParams(exchange.query);
  const problems = operation.parameters.flatMap((parameter) => {
    const { name, in: place, schema } = parameter as { name: string; in: string; schema: Schema };
    const value = place === 'query' ? query.get(name) : place === 'header' ? header(exchange, name) : undefined;
    if (value === null || value === undefined) return [];
    const validate = validator({ type: 'object', properties: { value: schema } }, ajvOfTexts);
    return validate({ value }) ? [] : [`accepted ${name}=${value}: ${ajv.errorsText(validate.errors)}`];
  });
  return [...problems, ...problemsOfRequestBody(exchange, operation.requestBody?.content)];
}

const header = ({ requestHeaders }: Exchange, name: string) => requestHeaders.get(name.toLowerCase())?.[0];

function problemsOfRequestBody(
  exchange: Exchange,
  content: Readonly<Record<string, { readonly schema: Schema }>> | undefined,
): string[] {
  if (!content) return [];
  const type = (header(exchange, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const schema = content[type]?.schema;
  if (!schema) return [`accepted a body of type "${type}"`];
  return exchange.requestBody ? problemsOfBody(withDocument(schema), exchange.requestBody) : [];
}
