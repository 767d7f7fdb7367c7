import { join } from 'node:path';
import { build } from 'esbuild';
import { ENTRIES } from './entries.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Bundles every function, each into `<outDir>/<name>/index.js`, in one esbuild call: one takes a second, one call a
 * function took eleven.
 *
 * CommonJS, because in ESM `import … from 'node:http'` (in @middy/util) loads undici: 36 ms and 13 MB at a cold start.
 * The SDK is bundled: the one in the runtime is of no stated version and loads slower.
 * @returns bytes of each bundle, by name.
 * @throws Error with esbuild's messages when an entry does not bundle.
 */
export async function bundleFunctions(outDir: string): Promise<Record<string, number>> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(ENTRIES).map(([name, entry]) => ({ in: entry, out: join(name, 'index') })),
    outdir: outDir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // The SDK imports `node:http` at its first request, which would load undici, too.
    supported: { 'dynamic-import': false },
    minify: true,
    // Names appear in the errors that reach the log.
    keepNames: true,
    // Packages publish smaller modules than their CommonJS: 334 kB instead of 526 for DynamoDB.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
  });
  return Object.fromEntries(
    Object.entries(result.metafile.outputs).map(([file, { bytes }]) => [file.split('/').at(-2) ?? file, bytes]),
  );
}
