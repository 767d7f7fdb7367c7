import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Leaves out parts of the SDK that none of our functions uses, but that esbuild keeps because it cannot prove that they are unused. A cold
 * start reads every byte of a bundle, and runs every statement outside of functions (decision 0025).
 * @throws Error when a file of the SDK does not have the expected text.
 */
export const leanSdk: Plugin = {
  name: 'lean-sdk',
  setup({ onLoad }) {
    onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, ({ path }) => ({
      contents: withoutUnusedErrors(withLiteralKeys(readFileSync(path, 'utf8'))),
    }));
    onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/package\.json$/ }, ({ path }) => ({
      contents: JSON.stringify({ version: JSON.parse(readFileSync(path, 'utf8')).version }),
      loader: 'json',
    }));
    onLoad({ filter: /\/lib-dynamodb\/dist-es\/pagination\/\w+\.js$/ }, ({ path }) => ({
      contents: withPurePaginators(readFileSync(path, 'utf8')),
    }));
    for (const [end, contents] of Object.entries(REPLACEMENTS)) {
      onLoad({ filter: new RegExp(`/${end.replaceAll('.', '\\.')}$`) }, ({ path }) => ({
        contents: replaced(readFileSync(path, 'utf8'), contents, end),
      }));
    }
  },
};

const lacks = (what: string) => `throw new Error('this bundle has no ${what} (infra/bundle/lean-sdk.ts)');`;

/**
 * Replacements of files of the SDK, by the end of the path of the file. A replacement does what the original does for our calls. If none of
 * our calls reaches the original, the replacement throws.
 */
export const REPLACEMENTS: Readonly<Record<string, string>> = {
  // The SDK would load `node:fs/promises` and look for `~/.aws/config` and `~/.aws/credentials`, which a function does not have.
  'shared-ini-file-loader/loadSharedConfigFiles.js': `export { CONFIG_PREFIX_SEPARATOR } from './constants';
    export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  // The SDK's class extends the global `ReadableStream`, which Node loads at its first use. We only use streams of Node.
  'checksum/ChecksumStream.browser.js': `export class ChecksumStream { constructor() { ${lacks('web streams')} } }`,
  // The SDK uses the global `crypto`, for which Node loads the Web Crypto API.
  'serde/uuid/v4.js': `import { randomUUID } from 'node:crypto'; export const bindV4 = () => () => randomUUID();`,
  // The SDK uses these classes where Node has no hashes.
  'checksum/sha256/Sha256Js.js': `export class Sha256Js { constructor() { ${lacks('SHA-256 in JavaScript')} } }`,
  'checksums/dist-es/submodules/sha/sha1/Sha1Js.js': `export class Sha1Js { constructor() { ${lacks('SHA-1 in JavaScript')} } }`,
  // Our clients have the retry mode `standard`.
  'util-retry/AdaptiveRetryStrategy.js': `export class AdaptiveRetryStrategy { constructor() { ${lacks('adaptive retries')} } }`,
  // A function has its region in a variable.
  'regionConfig/getInstanceMetadataRegion.js': `export const getInstanceMetadataRegion = async () => { ${lacks('instance metadata')} };`,
  // Only event streams have headers in this format.
  'signature-v4/dist-es/HeaderFormatter.js': `export class HeaderFormatter { format() { ${lacks('event streams')} } }
    export class Int64 { static fromNumber() { ${lacks('event streams')} } }`,
  // The client of DynamoDB names this command for endpoint discovery, which bundles do not contain (bundle.ts).
  'commands/DescribeEndpointsCommand.js': `export class DescribeEndpointsCommand { constructor() { ${lacks('endpoint discovery')} } }`,
  // Our clients have no logger. The file `schemaLogFilter.js` hides secrets in the texts that a logger would get.
  'middleware-logger/loggerMiddleware.js': `export const loggerMiddlewareOptions = {};
    export const loggerMiddleware = () => { ${lacks('logger of the SDK')} };
    export const getLoggerPlugin = ({ logger }) => ({
      applyToStack() { if (logger && logger.constructor.name !== 'NoOpLogger') loggerMiddleware(); },
    });`,
  'smithy-client/schemaLogFilter.js': `export function schemaLogFilter() { ${lacks('logger of the SDK')} }`,
};

/** @returns the replacement. @throws Error when the file of the SDK exports something that the replacement does not. */
export function replaced(original: string, replacement: string, file: string): string {
  const exportsOf = (code: string) =>
    [...code.matchAll(/\bexport (?:const|class|(?:async )?function\*?) (\w+)/g)].map(([, name]) => name);
  const missing = exportsOf(original).filter((name) => !exportsOf(replacement).includes(name));
  if (missing.length > 0) throw new Error(`${file} of the SDK exports ${missing.join(' and ')} as well`);
  return replacement;
}

/**
 * Lets esbuild leave out the paginators that a function does not use, with their commands. By default esbuild keeps every call of a
 * function. The comment that is added here says that the call has no effect.
 * @throws Error when the file makes a paginator in another way.
 */
export function withPurePaginators(pagination: string): string {
  const pure = pagination.replace('= createPaginator(', '= /* @__PURE__ */ createPaginator(');
  // The files of this folder without a paginator export no constant.
  if (pure === pagination && /^export const /m.test(pagination)) {
    throw new Error('the SDK makes its paginators in another way');
  }
  return pure;
}

/**
 * Replaces computed keys of schemas by their text: `{ [_hH]: … }` becomes `{ "httpHeader": … }`. Evaluating a computed key may have an
 * effect, so esbuild would keep the schemas of all operations.
 * @throws Error when no key is written like that.
 */
export function withLiteralKeys(schemas: string): string {
  const names = new Map([...schemas.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name, text]) => [name, text]));
  const literal = schemas.replace(/([{,] *)\[(_\w+)\]:/g, (key, before, name) => {
    const text = names.get(name);
    return text === undefined ? key : `${before}${text}:`;
  });
  if (literal === schemas) throw new Error('a client of the SDK writes the keys of its schemas in another way');
  return literal;
}

const REGISTRATION = /^\w+_registry\.registerError\((\w+)\$, \1\);\n/gm;

/**
 * Removes the classes of errors that our code does not mention. A client registers all its errors, SSM 140 of them. An error
 * that is not registered becomes one of the client's base class, with the same name, message, status and fields.
 */
export function withoutUnusedErrors(schemas: string): string {
  if (!schemas.match(REGISTRATION)) throw new Error('a client of the SDK registers its errors in another way');
  return schemas.replace(REGISTRATION, (statement, name: string) =>
    name.endsWith('ServiceException') || isMentioned(name) ? statement : '',
  );
}

let ourCode: string | undefined;

/** True when our code names the class of an error. A name in quotes (`failures.ts` has some) needs no class. */
function isMentioned(error: string): boolean {
  ourCode ??= ['shared', 'functions'].flatMap(sourcesIn).join('\n');
  return new RegExp(`(?<!')\\b${error}\\b`).test(ourCode);
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
}
