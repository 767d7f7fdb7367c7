import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';

/** CloudFront takes no larger function. Source: CloudFront quotas, "Maximum function size". */
export const EDGE_FUNCTION_MAX_BYTES = 10 * 1024;

export type EdgeFunctionFile = 'app-viewer-request.js' | 'cdn-viewer-request.js' | 'cdn-viewer-response.js';

/** What needs no escape in a string. */
const PLAIN_TEXT = /^[\w./|-]*$/;

/** The block of constants in a function's file: the comment that opens it, then one `const` a line. */
const BLOCK = /^\/\/ Filled in when the stack is synthesized.*\n((?:const \w+ = .*;\n)+)/m;
const CONSTANT = /^const (\w+) = (.*);$/gm;

/**
 * What runtime 2.0 documents beyond ES 5.1, of what the files use: esbuild writes no newer syntax of its own, such as
 * `{ headers }` for `{ headers: headers }`, and names all that it cannot do without. Source: CloudFront, "JavaScript
 * runtime 2.0 features for CloudFront Functions".
 */
const SYNTAX = {
  target: 'es5',
  supported: { 'const-and-let': true, arrow: true, 'template-literal': true, 'rest-argument': true },
} as const;

/**
 * The code of an edge function as it is deployed: without comments and indentation, which would be half of what CloudFront
 * takes, and with its constants filled in; CloudFront Functions have no environment variables.
 * @param constants  exactly those of the file's block.
 * @throws Error naming a constant that is missing, that the file does not have or that needs an escape, or syntax that the
 * runtime does not have, or when the code is too large.
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
  // No name and no expression changes: CloudFront calls `handler`, and what is deployed can still be read.
  const { code } = transformSync(source, { ...SYNTAX, minifyWhitespace: true });
  // As CloudFront's pages write it: how the runtime finds its one module is documented nowhere.
  return code.replace('import cf from"cloudfront";', "import cf from 'cloudfront';\n");
}

function literal(name: string, value: number | boolean | string | undefined): string {
  if (typeof value !== 'string') return String(value);
  if (!PLAIN_TEXT.test(value)) throw new Error(`${name} needs an escape: ${value}`);
  return `'${value}'`;
}
