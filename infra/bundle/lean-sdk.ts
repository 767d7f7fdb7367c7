import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Leaves out parts of the SDK that none of our functions uses, but that esbuild keeps because it cannot prove that. A cold start reads
 * every byte of a bundle, and runs every statement outside of functions (decision 0025).
 * @throws Error when a file of the SDK does not look as this expects.
 */
export const leanSdk: Plugin = {
  name: 'lean-sdk',
  setup({ onLoad }) {
    onLoad({ filter: /\/@aws-sdk\/client-[\w-]+\/dist-es\/schemas\/schemas_0\.js$/ }, ({ path }) => ({
      contents: withoutUnusedErrors(withLiteralKeys(readFileSync(path, 'utf8'))),
    }));
    onLoad({ filter: /\/shared-ini-file-loader\/loadSharedConfigFiles\.js$/ }, () => ({ contents: NO_FILES }));
    onLoad({ filter: /\/checksum\/ChecksumStream\.browser\.js$/ }, () => ({ contents: NO_WEB_STREAM }));
  },
};

/** The SDK would load `node:fs/promises` and look for `~/.aws/config` and `~/.aws/credentials`, which a function does not have. */
const NO_FILES = `export { CONFIG_PREFIX_SEPARATOR } from './constants';
export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`;

/** The SDK's class extends the global `ReadableStream`, which Node loads at its first use. We only use streams of Node. */
const NO_WEB_STREAM = `export class ChecksumStream {
  constructor() {
    throw new Error('this bundle takes no web streams (infra/bundle/lean-sdk.ts)');
  }
}`;

/**
 * Replaces computed keys of schemas by their text: `{ [_hH]: … }` becomes `{ "httpHeader": … }`. Evaluating a computed key may have an
 * effect, so with them esbuild would keep the schemas of all operations.
 */
export function withLiteralKeys(schemas: string): string {
  const names = new Map([...schemas.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)].map(([, name, text]) => [name, text]));
  return schemas.replace(/([{,] *)\[(_\w+)\]:/g, (key, before, name) => {
    const text = names.get(name);
    return text === undefined ? key : `${before}${text}:`;
  });
}

const REGISTRATION = /^\w+_registry\.registerError\((\w+)\$, \1\);\n/gm;

/**
 * Removes the classes of errors whose names our code does not mention. A client registers all its errors, SSM 140 of them. An error
 * that is not registered becomes one of the client's base class, with the same name, message, status and fields.
 */
export function withoutUnusedErrors(schemas: string): string {
  if (!schemas.match(REGISTRATION)) throw new Error('a client of the SDK registers its errors in another way');
  return schemas.replace(REGISTRATION, (statement, name: string) =>
    name.endsWith('ServiceException') || isMentioned(name) ? statement : '',
  );
}

let ourCode: string | undefined;

function isMentioned(error: string): boolean {
  ourCode ??= ['shared', 'functions'].flatMap(sourcesIn).join('\n');
  return new RegExp(`\\b${error}\\b`).test(ourCode);
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));
}
