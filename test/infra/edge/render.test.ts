import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { EDGE_FUNCTION_MAX_BYTES, type EdgeFunctionFile, renderEdgeFunction } from '../../../infra/edge/render.ts';
import { APP_CONSTANTS } from '../../support/run-edge-function.ts';

const FILES: [EdgeFunctionFile, Record<string, number | boolean | string>][] = [
  // The values that stand in the file.
  ['app-viewer-request.js', { ...APP_CONSTANTS, MAX_UPLOAD_SIZE_BYTES: 104_857_600 }],
  ['cdn-viewer-request.js', {}],
  ['cdn-viewer-response.js', {}],
];

const DOCUMENTED = {
  target: 'es5',
  supported: { 'const-and-let': true, arrow: true, 'template-literal': true, 'rest-argument': true },
} as const;

function source(file: EdgeFunctionFile): string {
  return readFileSync(new URL(`../../../infra/edge/${file}`, import.meta.url), 'utf8');
}

describe.each(FILES)('%s', (file, constants) => {
  test('is deployed exactly as written, except for comments and white space', async () => {
    const printed = async (code: string) => (await transform(code, { minifyWhitespace: true })).code;
    const code = renderEdgeFunction(file, constants);
    expect(await printed(code)).toBe(await printed(source(file)));
    expect(code).not.toMatch(/\/\*|^ *\/\/|\n /m);
    expect(code).toContain('function handler(event){');
    expect(code.match(/^import .*/)?.[0]).toBe(source(file).match(/^import .*/m)?.[0]);
  });

  test('is not larger than a CloudFront function may be', () => {
    expect(Buffer.byteLength(renderEdgeFunction(file, constants))).toBeLessThanOrEqual(EDGE_FUNCTION_MAX_BYTES);
  });

  test('uses only syntax of runtime 2.0: ES 5.1, const, let, arrows, templates, rest parameters', async () => {
    // For an older target, esbuild replaces newer syntax. So if the file had such syntax, the two results would differ. (Without a target,
    // esbuild would print object shorthands; they are turned off.)
    const newest = await transform(source(file), { supported: { 'object-extensions': false } });
    const lowered = await transform(source(file), DOCUMENTED);
    expect(lowered.code).toBe(newest.code);
    const deployed = renderEdgeFunction(file, constants).replace(" 'cloudfront';\n", '"cloudfront";');
    expect((await transform(deployed, { ...DOCUMENTED, minifyWhitespace: true })).code).toBe(deployed);
  });

  test('uses no function that the runtime lacks', () => {
    expect(source(file)).not.toMatch(
      /\b(setTimeout|eval|Function\(|structuredClone|URL|TextEncoder|Map|Set)\b|\.(at|flatMap|matchAll)\(/,
    );
  });
});

test('the constants of the stack are filled in', () => {
  const code = renderEdgeFunction('app-viewer-request.js', {
    ...APP_CONSTANTS,
    MAX_UPLOAD_SIZE_BYTES: 7,
    STREAMING_UPLOADS: false,
  });
  expect(code).toContain('const MAX_UPLOAD_SIZE_BYTES=7;');
  expect(code).toContain('const STREAMING_UPLOADS=false;');
});

test('a constant that is missing or unknown is an error that names it', () => {
  const { STREAMING_UPLOADS: _left, ...rest } = APP_CONSTANTS;
  expect(() => renderEdgeFunction('app-viewer-request.js', rest)).toThrow('needs the constant STREAMING_UPLOADS');
  expect(() => renderEdgeFunction('app-viewer-request.js', { ...APP_CONSTANTS, MAX_BYTES: 1 })).toThrow(
    'no constant MAX_BYTES',
  );
  expect(() => renderEdgeFunction('cdn-viewer-request.js', { LINK: 1 })).toThrow('no constant LINK');
  expect(() => renderEdgeFunction('app-viewer-request.js', { ...APP_CONSTANTS, DASHBOARD_FILES: "'" })).toThrow(
    'DASHBOARD_FILES needs an escape',
  );
});
