import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unnamedBreaks } from '../../docs/breaks.ts';
import { ROUTES } from '../../functions/routes.ts';
import { SECURITY_TEXT_PATH } from '../../infra/settings/security-text.ts';
import type { Exchange } from '../../local-aws/service.ts';
import { clientTypes } from '../../shared/contract/client-types.ts';
import { OPENAPI_PATH, openApiDocument } from '../../shared/contract/document.ts';
import { ERRORS } from '../../shared/contract/errors.ts';
import { forPrograms } from '../../shared/contract/for-programs.ts';
import { readLimits } from '../../shared/contract/limits.ts';
import { HEADERS } from '../../shared/contract/operation.ts';
import { methodsOf } from '../../shared/contract/route.ts';
import { SCHEMAS } from '../../shared/contract/schemas.ts';
import type { Route } from '../../shared/route.ts';
import { departures } from '../support/openapi-check.ts';
import { borrowTestService, type TestService } from '../support/service.ts';

/** The answers of all tests are compared with the document as well (`test/support/openapi-check.ts`). */

const DOCUMENT = openApiDocument(Object.values(ROUTES), readLimits({}));

// biome-ignore lint/suspicious/noExplicitAny: these tests read and change parts of the document that have no exact types.
type Editable = any;

const operations = () =>
  Object.values(DOCUMENT.paths).flatMap((path) =>
    Object.entries(path).map(([method, operation]) => ({ method, ...operation })),
  );

describe('the OpenAPI document', () => {
  test('passes the recommended rules of Redocly, in their strictest form', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(DOCUMENT),
      absoluteRef: '/openapi.json',
      // A login answers with a redirect, so it has no answer with a status of 2xx.
      config: await createConfig({ extends: ['recommended-strict'], rules: { 'operation-2xx-response': 'off' } }),
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test('has every method of every route, and nothing else', () => {
    const documented = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routed = Object.values<Route>(ROUTES).flatMap((route) =>
      methodsOf(route).map((method) => `${method} ${route.path}`),
    );
    expect(documented.sort()).toEqual(routed.sort());
  });

  test('has every error code except method_not_allowed, which only methods outside of the document get', () => {
    const text = JSON.stringify({ paths: DOCUMENT.paths, responses: DOCUMENT.components.responses });
    const missing = Object.keys(ERRORS).filter((code) => !text.includes(`"error":"${code}"`));
    expect(missing).toEqual(['method_not_allowed']);
  });

  test('gives the types of the TypeScript client', async () => {
    const committed = join(import.meta.dirname, '../../clients/typescript/src/types.ts');
    expect(await readFile(committed, 'utf8')).toBe(clientTypes(DOCUMENT));
  });

  test('states the largest file and the rate limits of its deployment', () => {
    const limits = readLimits({
      MAX_UPLOAD_SIZE_BYTES: '12345678',
      RATE_LIMIT_UPLOADS_PER_MINUTE: '6',
      RATE_LIMIT_LISTS_PER_MINUTE: '7',
      RATE_LIMIT_REQUESTS_PER_MINUTE: '8',
    });
    const { info, components } = openApiDocument(Object.values(ROUTES), limits);
    expect(JSON.stringify(info)).toContain('12,345,678 bytes');
    expect(String((info as Editable).description)).toMatch(
      /\b6\s+uploads\s+\(a form or a ticket\),\s+7\s+lists\s+and\s+8\s+other\s+requests/,
    );
    expect(components.schemas.TicketRequest).toMatchObject({ properties: { size_bytes: { maximum: 12_345_678 } } });
  });

  test('has no names or keywords that generators of clients stumble over', () => {
    const text = JSON.stringify(DOCUMENT);
    expect(text).not.toContain('"const":');
    // Each of these keywords alone makes other generators send a file.
    expect(
      DOCUMENT.paths['/api/v1/files']?.post?.requestBody?.content['multipart/form-data']?.schema.properties,
    ).toMatchObject({ file: { format: 'binary', contentMediaType: expect.any(String) } });
    for (const name of ['deleted', 'logged_out']) {
      const fields = Object.values(DOCUMENT.components.schemas).flatMap(
        ({ properties }) => (properties as Editable)[name] ?? [],
      );
      expect(fields.map((field) => Object.keys(field).filter((key) => key !== 'description'))).toEqual([['type']]);
      expect(fields).toMatchObject([{ type: 'boolean' }]);
    }
    const names = [DOCUMENT.components.schemas, DOCUMENT.components.securitySchemes ?? {}].flatMap(Object.keys);
    // Names of the languages themselves, and names that a generated constructor `New…` of another schema has.
    const reserved = [
      'Error',
      'Exception',
      'File',
      'Object',
      'Response',
      'Request',
      'apiKey',
      ...names.map((name) => `New${name}`),
    ];
    expect(names.filter((name) => reserved.includes(name))).toEqual([]);
    const bodies = Object.values(DOCUMENT.paths).flatMap((operations) => Object.values(operations));
    for (const { requestBody } of bodies) expect(Object.keys(requestBody?.content ?? { '': {} })).toHaveLength(1);
  });

  test('describes each error answer once, and refers to it', () => {
    const inPlace = operations().flatMap(({ method, operationId, responses }) =>
      Object.entries(responses)
        .filter(([status, response]) => method !== 'head' && status >= '400' && !('$ref' in response))
        .map(([status]) => `${operationId} ${status}`),
    );
    // It has the state of the service instead of an error.
    expect(inPlace).toEqual(['health 503']);
  });

  test('gives no optional header an example or default, which an import would send with every request', () => {
    const parameters = operations().flatMap((operation) => operation.parameters) as Editable[];
    const headers = parameters.filter(({ in: place, required }) => place === 'header' && !required);
    expect(headers.length).toBeGreaterThan(1);
    for (const { example, examples, schema } of headers)
      expect([example, examples, schema.example, schema.examples, schema.default]).toEqual(Array(5).fill(undefined));
  });

  test('states the bounds that the service checks: numbers of headers, and what the name of a key may be', async () => {
    expect(DOCUMENT.components.headers).toMatchObject({ 'Retry-After': { schema: { type: 'integer', minimum: 0 } } });
    const { name } = (DOCUMENT.components.schemas.CreateKeyRequest as Editable).properties;
    const accepts = new Ajv2020({ strict: false }).compile(name);
    const names = ['CI', 'é 😀', 'x'.repeat(100), 'x'.repeat(101), '', 'a\nb', 'a\u0085', 'a\u202eb', 'a\u2069'];
    expect(names.map((one) => accepts(one))).toEqual([true, true, true, ...Array(6).fill(false)]);
  });

  test('gives each operation one type of success, because many generators know only the first one', () => {
    for (const { operationId, responses } of Object.values(DOCUMENT.paths).flatMap((path) => Object.values(path))) {
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const types = new Set(successes.map(([, response]) => JSON.stringify((response as Editable).content)));
      expect([operationId, types.size]).toEqual([operationId, Math.min(1, successes.length)]);
    }
  });

  test('says of every number of bytes that it takes 64 bits', () => {
    const numbers = Object.values(DOCUMENT.components.schemas).flatMap(({ properties }) =>
      Object.entries(properties as Editable).filter(([name]) => name.endsWith('_bytes')),
    );
    expect(numbers.length).toBeGreaterThan(5);
    for (const [name, schema] of numbers) expect([name, schema]).toMatchObject([name, { format: 'int64' }]);
  });
});

describe('the comparison with the released document', () => {
  const { version } = DOCUMENT.info as { version: string };
  const CHANGELOG = `# Changelog\n\n## Not released\n\n## ${version}\n\nReleased.\n`;
  /** What clients must hear of when the document changes so. */
  function breaksBy(change: (document: Editable) => void, changelog = CHANGELOG): string[] {
    const changed: Editable = structuredClone(DOCUMENT);
    change(changed);
    return unnamedBreaks(DOCUMENT, changed, changelog);
  }

  const list = (document: Editable) => document.paths['/api/v1/files'].get;
  const upload = (document: Editable) => document.paths['/api/v1/files'].post;
  const schema = (document: Editable, name: string) => document.components.schemas[name];

  test.each<[string, (document: Editable) => void, string[]]>([
    [
      'a path',
      (document) => delete document.paths['/api/v1/usage'],
      ['no longer: GET /api/v1/usage', 'no longer: HEAD /api/v1/usage'],
    ],
    [
      'a method',
      (document) => delete document.paths['/api/v1/files/{id}'].delete,
      ['no longer: DELETE /api/v1/files/{id}'],
    ],
    [
      'the name of an operation',
      (document) => Object.assign(list(document), { operationId: 'files' }),
      ['no longer: GET /api/v1/files is called listFiles'],
    ],
    ['a credential', (document) => list(document).security.shift(), ['no longer: GET /api/v1/files serves ByKey']],
    ['a parameter', (document) => list(document).parameters.pop(), ['no longer: GET /api/v1/files takes query search']],
    [
      'the type of a parameter',
      (document) => Object.assign(list(document).parameters[2].schema, { type: 'integer' }),
      ['no longer: GET /api/v1/files takes query search may be string'],
    ],
    [
      'an optional parameter that is now required',
      (document) => Object.assign(list(document).parameters[2], { required: true }),
      ['now: GET /api/v1/files requires query search'],
    ],
    [
      'a lower maximum of a request',
      (document) => Object.assign(list(document).parameters[1].schema, { maximum: 50 }),
      ['now: GET /api/v1/files takes query limit has a stricter maximum'],
    ],
    [
      'a new pattern of a request',
      (document) => Object.assign(schema(document, 'TicketRequest').properties.name, { pattern: '^a' }),
      ['now: TicketRequest.name must match ^a'],
    ],
    [
      'a field of a request that is newly required',
      (document) => schema(document, 'TicketRequest').required.push('checksum_sha256'),
      ['now: TicketRequest.checksum_sha256 is required'],
    ],
    [
      'a field of a request that is new and required',
      (document) => {
        schema(document, 'TicketRequest').properties.folder = { type: 'string' };
        schema(document, 'TicketRequest').required.push('folder');
      },
      ['now: TicketRequest.folder is required'],
    ],
    [
      'a type of a body',
      (document) => {
        upload(document).requestBody.content = { 'image/*': { schema: { type: 'string' } } };
      },
      ['no longer: POST /api/v1/files takes multipart/form-data'],
    ],
    [
      'a field of an answer',
      (document) => delete schema(document, 'FileRecord').properties.url,
      ['no longer: FileRecord.url'],
    ],
    [
      'a field that may be missing',
      (document) => schema(document, 'FileRecord').required.pop(),
      ['no longer: FileRecord.created_at is always there'],
    ],
    [
      'a field that may be null',
      (document) => Object.assign(schema(document, 'FileRecord').properties.name, { type: ['string', 'null'] }),
      ['no longer: FileRecord.name is string'],
    ],
    [
      'a field of another format',
      (document) => Object.assign(schema(document, 'FileRecord').properties.created_at, { format: 'date' }),
      ['no longer: FileRecord.created_at is string date-time'],
    ],
    [
      'a value of an enum',
      (document) => schema(document, 'Health').properties.db.enum.pop(),
      ['no longer: Health.db may be "error"'],
    ],
    [
      'a status of a success',
      (document) => {
        const { 201: created, ...others } = upload(document).responses;
        upload(document).responses = { ...others, 200: created };
      },
      ['no longer: POST /api/v1/files answers 201'],
    ],
    [
      'a header of an answer',
      (document) => delete upload(document).responses[201].headers.Location,
      ['no longer: POST /api/v1/files answers 201 with Location'],
    ],
    [
      'what is deprecated',
      (document) => {
        list(document).parameters[2].deprecated = true;
        schema(document, 'FileRecord').properties.url.deprecated = true;
        upload(document).deprecated = true;
        const answers = [upload(document).responses[201], ...Object.values<Editable>(document.components.responses)];
        for (const answer of answers) answer.headers = { ...answer.headers, Deprecation: {}, Sunset: {} };
      },
      [
        'now: GET /api/v1/files takes query search is deprecated',
        'now: FileRecord.url is deprecated',
        'now: POST /api/v1/files is deprecated',
        'now: POST /api/v1/files answers without Link',
      ],
    ],
    [
      'an error code of one route',
      (document) => Object.assign(upload(document).responses, { 403: { $ref: '#/components/responses/Forbidden' } }),
      ['no longer: POST /api/v1/files answers 403 storage_limit_exceeded'],
    ],
  ])('reports %s', (_what, change, expected) => {
    expect(breaksBy(change)).toEqual(expected);
    const entry = expected.map((sentence) => `- \`${sentence}\`\n`).join('');
    expect(breaksBy(change, CHANGELOG.replace(`## ${version}`, `${entry}\n## ${version}`))).toEqual([]);
    expect(breaksBy(change, CHANGELOG + entry)).toEqual(expected);
  });

  test.each<[string, (document: Editable) => void]>([
    ['a new path', (document) => Object.assign(document.paths, { '/api/v1/new': document.paths['/api/v1/uploads'] })],
    ['a new method', (document) => Object.assign(document.paths['/api/v1/usage'], { post: upload(document) })],
    [
      'a new optional parameter with bounds',
      (document) =>
        list(document).parameters.push({ name: 'after', in: 'query', schema: { type: 'string', maxLength: 9 } }),
    ],
    [
      'a new field of a request, which has required fields of its own',
      (document) =>
        Object.assign(schema(document, 'TicketRequest').properties, {
          owner: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
        }),
    ],
    ['a field of a request that is required no more', (document) => schema(document, 'TicketRequest').required.shift()],
    [
      'a field of a request that may be null',
      (document) => Object.assign(schema(document, 'TicketRequest').properties.name, { type: ['string', 'null'] }),
    ],
    ['a higher maximum', (document) => Object.assign(list(document).parameters[1].schema, { maximum: 1_000 })],
    [
      'a new field of an answer',
      (document) => {
        schema(document, 'FileRecord').properties.owner = { type: 'string' };
        schema(document, 'FileRecord').required.push('owner');
      },
    ],
    ['a new value of an enum', (document) => schema(document, 'ErrorAnswer').properties.error.enum.push('new')],
    ['a new header', (document) => Object.assign(list(document).responses[200].headers, { ETag: { schema: {} } })],
    ['a new status', (document) => Object.assign(list(document).responses, { 418: list(document).responses[400] })],
    [
      'another order, and other words',
      (document) => {
        list(document).parameters.reverse();
        list(document).description = 'Other words';
      },
    ],
  ])('allows %s', (_what, change) => {
    expect(breaksBy(change)).toEqual([]);
  });

  test('lets the changelog name a change of many routes at once, and nothing wider', () => {
    const change = (document: Editable) => {
      for (const { headers } of Object.values<Editable>(document.components.responses))
        delete headers?.['Error-Detail'];
    };
    const named = (sentence: string) => CHANGELOG.replace(`## ${version}`, `- \`${sentence}\`\n\n## ${version}`);
    const all = breaksBy(change);
    expect(all.length).toBeGreaterThan(10);
    expect(breaksBy(change, named('no longer: * with Error-Detail'))).toEqual([]);
    expect(breaksBy(change, named('no longer: * with Error'))).toEqual(all);
    expect(breaksBy(change, named('*'))).toEqual(all);
  });

  test('finds nothing in the document of today that docs/changelog.md does not name', async () => {
    const pages = ['openapi-released.json', 'changelog.md'].map((name) =>
      readFile(join(import.meta.dirname, '../../docs', name), 'utf8'),
    );
    const [released = '', changelog = ''] = await Promise.all(pages);
    expect(unnamedBreaks(JSON.parse(released), DOCUMENT, changelog)).toEqual([]);
  });

  test('reports a changelog without the released version', () => {
    expect(breaksBy(() => {}, '# Changelog\n')).toEqual([`the changelog has no heading ${version}`]);
  });
});

describe('the service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await borrowTestService();
  });
  afterAll(() => service.close());

  test('serves the document to everyone, from a cache', async () => {
    const answer = await fetch(service.urls.root_url + OPENAPI_PATH);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const served: Editable = await answer.json();
    expect(served).toEqual(openApiDocument(Object.values(ROUTES), readLimits({}), 'session'));
    const { cookie } = await service.newAccount();
    expect(served.components.securitySchemes.BySession.name).toBe(cookie.split('=')[0]);
    const again = await fetch(service.urls.root_url + OPENAPI_PATH, { method: 'HEAD' });
    expect([again.status, again.headers.get('x-cache')]).toEqual([200, 'Hit from cloudfront']);
  });

  test('serves the page for programs at the root, as plain text without a session', async () => {
    const answer = await fetch(`${service.urls.root_url}/llms.txt`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await answer.text();
    expect(text).toBe(forPrograms(Object.values(ROUTES), readLimits({}), service.urls.root_url));
    expect(text).toContain(`- Address: \`${service.urls.root_url}\``);
    const samples = DOCUMENT.paths['/api/v1/uploads']?.post?.['x-codeSamples'] as Editable[];
    const python = samples.filter(({ lang, label }) => lang === 'Python' && label.includes('whole'));
    expect(python).toHaveLength(1);
    for (const { source } of python) expect(text).toContain(`\`\`\`python\n${source}\n\`\`\``);
    const { upload }: Editable = SCHEMAS.UploadTicket.properties;
    for (const name of Object.keys(upload.properties)) expect(text).toContain(`\`upload.${name}\` (`);
    // What a program with a key may send, and what it gets, is all there.
    for (const [path, operations] of Object.entries(DOCUMENT.paths)) {
      for (const [method, { security, parameters, responses }] of Object.entries(operations)) {
        if (method === 'head' || !JSON.stringify(security).includes('ByKey')) continue;
        const [, section = ''] = text.split(`### \`${method.toUpperCase()} ${path}\`\n`);
        const [own = ''] = section.split('\n#');
        for (const { name, in: place } of parameters) expect(own).toContain(`- ${place} \`${name}\` (`);
        for (const status of Object.keys(responses).filter((one) => one < '300')) expect(own).toContain(`${status} \``);
      }
    }
    for (const name of Object.keys(HEADERS).filter((one) => !['X-Commit', 'Set-Cookie'].includes(one)))
      expect(text).toContain(`- \`${name}\`: `);
    for (const field of ['FileRecord', 'UploadTicket', 'TicketRequest'] as const)
      for (const name of Object.keys(SCHEMAS[field].properties)) expect(text).toContain(`- \`${name}\` (`);
    for (const [code, { status }] of Object.entries(ERRORS)) expect(text).toContain(`| ${status} | \`${code}\` | `);
    const refused = await fetch(`${service.urls.root_url}/llms.txt`, { method: 'POST', body: 'x' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('has no security.txt, because its stage names no contact', async () => {
    const answer = await fetch(service.urls.root_url + SECURITY_TEXT_PATH);
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'not_found' }]);
  });

  test('answers another method at the path of the document with 405', async () => {
    const answer = await fetch(service.urls.root_url + OPENAPI_PATH, { method: 'POST', body: '{}' });
    expect([answer.status, answer.headers.get('allow'), await answer.json()]).toEqual([
      405,
      'GET, HEAD',
      { error: 'method_not_allowed' },
    ]);
  });
});

describe('the comparison of answers with the document', () => {
  const ID = '019c1a2b-3c4d-7e5f-8a9b-0c1d2e3f4a5b';
  const file = {
    id: ID,
    name: 'a.txt',
    mime_type: 'text/plain',
    size_bytes: 1,
    url: 'https://cdn.example.com/uploads/a',
    created_at: '2026-01-31T12:00:00.000Z',
  };

  function exchange(
    change: Partial<Omit<Exchange, 'body' | 'headers'>> & { body?: unknown; headers?: object },
  ): Exchange {
    const { body = file, headers = {}, ...rest } = change;
    const all = { 'content-type': 'application/json', 'x-request-id': 'a', ...headers };
    return {
      method: 'GET',
      path: `/api/v1/files/${ID}`,
      query: '',
      requestHeaders: new Map(),
      requestBody: undefined,
      status: 200,
      headers: new Map(Object.entries(all).map(([name, value]) => [name, [value]])),
      body: Buffer.from(JSON.stringify(body)),
      ...rest,
    };
  }

  test('accepts an answer of the document', () => {
    expect(departures(exchange({}))).toEqual([]);
  });

  test.each([
    ['an additional field', { body: { ...file, secret: 1 } }],
    ['a missing field', { body: { ...file, url: undefined } }],
    ['a field of another type', { body: { ...file, size_bytes: '1' } }],
    ['an invalid time', { body: { ...file, created_at: 'yesterday' } }],
    ['an undocumented status', { status: 418 }],
    ['an error that the route does not have', { status: 404, body: { error: 'upload_incomplete' } }],
    ['an undocumented header', { headers: { location: '/' } }],
    ['a success of an unknown path', { path: '/api/v1/unknown' }],
    ['an unknown error of an unknown path', { path: '/api/v1/unknown', status: 404, body: { error: 'none' } }],
    [
      'a limit out of bounds that was accepted',
      {
        path: '/api/v1/files',
        query: 'limit=101',
        body: { items: [], page: 1, limit: 101, total: 0 },
      },
    ],
    [
      'a body that was accepted without a required field',
      {
        method: 'POST',
        path: '/api/v1/api-keys',
        status: 201,
        requestHeaders: new Map([['content-type', ['application/json']]]),
        requestBody: Buffer.from('{}'),
        body: { id: ID, name: 'a', key_prefix: 'a', created_at: file.created_at, last_used_at: null, key: 'a' },
      },
    ],
  ])('reports %s', (_what, change) => {
    expect(departures(exchange(change))).not.toEqual([]);
  });
});
