import { join } from 'node:path';
import { bundleFunctions } from './bundle.ts';

/** `npm run build`: bundles every function into `dist/` and prints the size of each. */
const sizes = await bundleFunctions(join(import.meta.dirname, '../../dist'));
for (const [name, bytes] of Object.entries(sizes).sort(([, a], [, b]) => b - a)) {
  console.log(`${(bytes / 1000).toFixed(0).padStart(6)} kB  dist/${name}/index.js`);
}
