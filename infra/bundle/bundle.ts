import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ENTRIES } from './entries.ts';
import { PACKAGES_FILES, packagesOf } from './packages.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Bundles each function into `<outDir>/<name>/index.js`. One call of esbuild bundles all functions in a second; one call per function would
 * take eleven seconds. It also writes a list of the packages that the bundles contain.
 *
 * The format is CommonJS. In ESM, `import … from 'node:http'` (in @middy/util) loads undici, which costs 36 ms and 13 MB at a cold start.
 * The SDK is bundled, because the runtime's own SDK has no stated version and loads more slowly.
 * @returns the size of each bundle in bytes, by name.
 * @throws Error with esbuild's messages when an entry cannot be bundled.
 */
export async function bundleFunctions(
  outDir: string,
  entries: Readonly<Record<string, string>> = ENTRIES,
): Promise<Record<string, number>> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(entries).map(([name, entry]) => ({ in: entry, out: join(name, 'index') })),
    outdir: outDir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // The SDK imports `node:http` dynamically at its first request, which would load undici, too.
    supported: { 'dynamic-import': false },
    // Names are not shortened, because the log shows the names of error classes. (With `keepNames`, names could be shortened without this
    // loss, but a function would load a tenth more slowly.)
    minifyWhitespace: true,
    minifySyntax: true,
    // The packages' ES modules make smaller bundles than their CommonJS modules: for `getFile` 443 kB instead of 1,101 kB.
    mainFields: ['module', 'main'],
    alias: {
      '@aws-sdk/credential-provider-node': './shared/aws/credentials.ts',
      '@aws-sdk/middleware-endpoint-discovery': './infra/bundle/no-endpoint-discovery.ts',
      '@smithy/core/event-streams': './infra/bundle/no-event-streams.ts',
    },
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
  });
  const outputs = Object.entries(result.metafile.outputs);
  const files = outputs.flatMap(([, { inputs }]) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : [])),
  );
  await writeFile(join(outDir, PACKAGES_FILES.functions), JSON.stringify(packagesOf(files)));
  return Object.fromEntries(outputs.map(([file, { bytes }]) => [file.split('/').at(-2) ?? file, bytes]));
}
