import type { FunctionRequest } from 'cloudfront';
import { expect } from 'vitest';
import {
  fromFunctionRequest,
  fromFunctionResponse,
  isFunctionResponse,
} from '../../local-aws/cloudfront/function-events.ts';
import { APP_CONSTANTS, edgeFunction, viewerRequest, viewerRequestEvent } from '../support/run-edge-function.ts';
import type { Target } from './fuzz.ts';

const APP = edgeFunction('app-viewer-request.js', { ...APP_CONSTANTS });
const CDN_REQUEST = edgeFunction('cdn-viewer-request.js');
const CDN_RESPONSE = edgeFunction('cdn-viewer-response.js');

const WORDS = [
  'GET ',
  'POST ',
  '/',
  '?',
  '&',
  '=',
  '\n',
  ': ',
  '%',
  '%2F',
  '..',
  'host: a',
  '__proto__: x',
  '\xe4',
  ' ',
  '"',
  ',',
  'x'.repeat(600),
];

/** CloudFront's functions. */
export const EDGE_FUNCTIONS: Readonly<Record<string, Target>> = {
  /** A request: method, path and query in the first line, then headers. */
  'edge-app': {
    words: [
      ...WORDS,
      'POST /api/v1/files',
      'GET /dashboard/',
      'PUT ',
      'HEAD ',
      '/dashboard',
      '/dashboard/assets/app-12345678.js',
      '/upload-stream-origin',
      '/api/v1/openapi.json',
      '/llms.txt',
      '/health',
      '%2e%2e',
      '%64',
      '//',
      '/./',
      ';',
      'content-length: 5000000',
      'content-length: ',
      'transfer-encoding: chunked',
      'content-type: multipart/form-data; boundary=b',
      `authorization: Bearer svc_test_${'x'.repeat(49)}`,
      'cookie: session=',
      'x-viewer-address: 1.2.3.4',
      'x-origin-secret: x',
      'x-api-key: x',
      'x-http-method-override: PUT',
      'A'.repeat(43),
    ],
    seeds: [
      'POST /api/v1/files\ncontent-type: multipart/form-data; boundary=b\ncontent-length: 5000000\ncookie: session=AAAAAAAAAAAAAAAAAAAAAAAAAA',
      'GET /dashboard/%66iles?a=1;2',
      'GET /',
      'DELETE /api/v1/files/x\nx-api-key: a',
      'GET /llms.txt',
      'POST /api/v1/files\ntransfer-encoding: chunked',
    ],
    stepsPerByte: 20,
    check(input) {
      const { result, selectedOriginId } = APP.run(viewerRequestEvent(...requestOf(input)));
      if (isFunctionResponse(result)) return expectAnswer(result, [302, 400, 401, 404, 405, 411, 413, 415]);
      const [method, target, headers] = requestOf(input);
      const { path, headers: sent } = fromFunctionRequest(result, viewerRequest(method, target, headers));
      expect(path).not.toMatch(/\/\/|\/\.\.?(\/|$)|%(2[DdEe]|5[Ff]|7[Ee]|3\d|[46][1-9A-Fa-f]|[57][0-9Aa])/);
      expect(sent.get('x-viewer-address')).toEqual(['198.51.100.7']);
      for (const name of ['x-origin-secret', 'x-api-key', 'x-http-method-override']) expect(sent.has(name)).toBe(false);
      if (selectedOriginId !== undefined)
        expect([selectedOriginId, method, path]).toEqual(['upload-stream', 'POST', '/api/v1/files']);
      // What the edge lets pass, it lets pass again, except for two kinds of files: their paths in the bucket are not those that viewers
      // ask for.
      if (!/^\/(assets\/[\w.-]+|texts\/llms\.txt)$/.test(path))
        expect(APP.run(viewerRequestEvent(method, path, headers)).result).toMatchObject({ uri: path });
    },
  },

  /** A request for a link. */
  'edge-cdn-request': {
    words: [
      ...WORDS,
      'GET /uploads/',
      'A'.repeat(22),
      'A'.repeat(64),
      '/a.txt',
      '?download',
      'OPTIONS ',
      'if-match: "x"',
      'sec-fetch-dest: document',
      'if-none-match: "x"',
    ],
    seeds: [
      `GET /uploads/${'A'.repeat(22)}/a.txt?download`,
      `GET /uploads/${'A'.repeat(64)}\nsec-fetch-dest: iframe\nif-none-match: "x"`,
      `POST /uploads/${'A'.repeat(22)}`,
      'GET /uploads/../a',
    ],
    stepsPerByte: 20,
    check(input) {
      const [method, target, headers] = requestOf(input);
      const { result } = CDN_REQUEST.run(viewerRequestEvent(method, target, headers));
      if (isFunctionResponse(result)) return expectAnswer(result, [204, 404, 405]);
      const passed = fromFunctionRequest(result, viewerRequest(method, target, headers));
      expect(passed.path).toMatch(/^\/uploads\/[0-9A-Za-z]{22,64}$/);
      expect(passed.method).toMatch(/^(GET|HEAD)$/);
      expect(Object.keys((result as FunctionRequest).querystring)).toEqual([]);
      expect(CDN_REQUEST.run(viewerRequestEvent(method, passed.path, headers)).result).toMatchObject({
        uri: passed.path,
      });
    },
  },

  /** A request for a link, and after an empty line the headers of the bucket's answer. */
  'edge-cdn-response': {
    words: [
      ...WORDS,
      '?download',
      '\n\n',
      'content-type: ',
      'text/html',
      'image/png',
      'image/svg+xml',
      'application/pdf',
      'text/plain',
      '; charset=',
      'content-disposition: inline; filename="a"',
      'etag: "x"',
      'if-match: ',
      'if-match: *',
      'W/"x"',
      'if-unmodified-since: Thu, 01 Jan 1970 00:00:00 GMT',
      'last-modified: Fri, 02 Jan 1970 00:00:00 GMT',
      'sec-fetch-dest: document',
      'x-amz-meta-file: x',
      'set-cookie: a=b',
    ],
    seeds: [
      'GET /uploads/x?download\nsec-fetch-dest: document\n\ncontent-type: text/csv\ncontent-disposition: inline; filename="a"\netag: "x"',
      'GET /uploads/x\nif-match: "y"\n\netag: "x"',
      'GET /uploads/x\n\ncontent-type: image/svg+xml\nx-amz-meta-file: a',
    ],
    stepsPerByte: 20,
    check(input) {
      const [asked = '', answered = ''] = input.split('\n\n');
      const given = headersOf(answered.split('\n'));
      const response = {
        statusCode: 200,
        headers: Object.fromEntries([...given].map(([name, value]) => [name, { value }])),
      };
      const { result } = CDN_RESPONSE.run({ ...viewerRequestEvent(...requestOf(asked)), response });
      const { status, headers } = fromFunctionResponse(result);
      expect([200, 412]).toContain(status);
      expect([...headers.keys()].filter((name) => /^(x-amz|set-cookie|server)/.test(name))).toEqual([]);
      expect(headers.get('access-control-allow-origin')).toEqual(['*']);
      if (status === 412) return;
      const [type = ''] = headers.get('content-type') ?? [];
      const [policy = ''] = headers.get('content-security-policy') ?? [];
      // A browser may execute something only in a PDF's own viewer.
      expect(policy.startsWith('sandbox') || /^\s*application\/pdf\s*(;|$)/i.test(type), `${type}: ${policy}`).toBe(
        true,
      );
      if (policy.includes('allow-same-origin')) expect(type.split(';')[0]).not.toMatch(/\+xml|html/i);
    },
  },
};

/** The request that an edge would pass to a function: a viewer's request that is not HTTP never reaches one. */
function requestOf(input: string): [method: string, target: string, headers: Record<string, string>] {
  const [line = '', ...lines] = input.split('\n');
  const [method = '', target = ''] = line.split(' ');
  return [
    method.replace(/[^A-Z]/g, '') || 'GET',
    `/${target.replace(/[^\x21-\x7e]/g, '').replace(/^\//, '')}`,
    Object.fromEntries(headersOf(lines)),
  ];
}

/** The lines that are headers of HTTP, by lower-case name. */
function headersOf(lines: readonly string[]): Map<string, string> {
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value.trim()] as const];
    }),
  );
}

/** An answer of an edge function is JSON or empty, and no cache keeps it. */
function expectAnswer(result: unknown, statuses: readonly number[]): void {
  const { status, headers, body = Buffer.alloc(0) } = fromFunctionResponse(result);
  expect(statuses).toContain(status);
  expect(headers.get('cache-control')).toEqual(['no-store']);
  if (status >= 400) expect(JSON.parse(body.toString())).toEqual({ error: expect.stringMatching(/^[a-z_]+$/) });
}
