import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';

/** The maximum size of a function. Source: CloudFront quotas, "Maximum function size". */
export const EDGE_FUNCTION_MAX_BYTES = 10 * 1024;

export type EdgeFunctionFile = 'app-viewer-request.js' | 'cdn-viewer-request.js' | 'cdn-viewer-response.js';

/** Matches text that needs no escape in a string literal. */
const PLAIN_TEXT = /^[\w./|-]*$/;

/**
 * The block of constants in a function's file. The first line is the comment that this pattern names; then there is one `const` per line.
 */
const BLOCK = /^\/\/ Filled in when the stack is synthesized.*\n((?:const \w+ = .*;\n)+)/m;
const CONSTANT = /^const (\w+) = (.*);$/gm;

/**
 * The syntax beyond ES 5.1 that runtime 2.0 documents and the files use. With this, esbuild does not write newer syntax
 * such as `{ headers }` for `{ headers: headers }`, and rejects newer syntax that it cannot replace. Source: CloudFront,
 * "JavaScript runtime 2.0 features for CloudFront Functions".
 */
const SYNTAX = {
  target: 'es5',
  supported: { 'const-and-let': true, arrow: true, 'template-literal': true, 'rest-argument': true },
} as const;

/**
 * Renders an edge function for deployment. Removes comments and indentation, which would take more than half of the maximum size. Fills in
 * its constants, because CloudFront Functions have no environment variables.
 * @param constants  a value for each constant of the file's block.
 * @throws Error naming a constant that is missing, unknown or needs an escape, or unsupported syntax; or when the code is
 *   too large.
 */
export function renderEdgeFunction(
  file: EdgeFunctionFile,
  constants: Readonly<Record<string, number | boolean | string>> = {},
): string {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8');
  const unused = new Set(Object.keys(constants));
  const filled = source.replace(BLOCK, (block) =>
    block.replace(CONSTANT, (_line, name: string) => {
      if (!unused.delete(name)) throw new Error(`${file} needs the constant ${name}`);
      return `const ${name} = ${literal(name, constants[name])};`;
    }),
  );
  if (unused.size > 0) throw new Error(`${file} has no constant ${[...unused].join(', ')}`);
  const code = withoutComments(filled);
  const bytes = Buffer.byteLength(code);
  if (bytes > EDGE_FUNCTION_MAX_BYTES)
    throw new Error(`${file} is ${bytes} bytes; CloudFront takes ${EDGE_FUNCTION_MAX_BYTES}`);
  return code;
}

function withoutComments(source: string): string {
  // Only white space is minified: CloudFront calls `handler` by name, and the deployed code stays readable.
  const { code } = transformSync(source, { ...SYNTAX, minifyWhitespace: true });
  // The import is written exactly as in CloudFront's documentation, which does not say how the runtime parses it.
  return code.replace('import cf from"cloudfront";', "import cf from 'cloudfront';\n");
}

function literal(name: string, value: number | boolean | string | undefined): string {
  if (typeof value !== 'string') return String(value);
  if (!PLAIN_TEXT.test(value)) throw new Error(`${name} needs an escape: ${value}`);
  return `'${value}'`;
}
