import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDashboard } from './build-dashboard.ts';
import { bundleFunctions } from './bundle.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build`: builds the dashboard and every function into `dist/`, with a software bill of materials (`sbom.cdx.json`), and prints
 * the size of each function.
 */
const dist = join(import.meta.dirname, '../../dist');
await rm(dist, { recursive: true, force: true });
const [, sizes] = await Promise.all([buildDashboard(dist), bundleFunctions(dist)]);
await writeFile(join(dist, 'sbom.cdx.json'), `${JSON.stringify(await sbomOf(dist), null, 2)}\n`);
for (const [name, bytes] of Object.entries(sizes).sort(([, a], [, b]) => b - a)) {
  console.log(`${(bytes / 1000).toFixed(0).padStart(6)} kB  dist/${name}/index.js`);
}
