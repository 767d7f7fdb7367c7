import { join } from 'node:path';
import { countOf, findViolations } from './find-violations.ts';
import { readImportGraph } from './import-graph.ts';
import { BOUNDS, LAYERS } from './layers.ts';

/** `node layers/check.ts` fails when an import breaks the rules of `layers.ts`, and prints the sizes that are bounded. */
const graph = readImportGraph(join(import.meta.dirname, '..'));
for (const bound of BOUNDS) console.log(`${bound.what}: ${countOf(graph, bound)} of at most ${bound.max}`);
for (const violation of findViolations(graph, LAYERS, BOUNDS)) {
  console.error(violation);
  process.exitCode = 1;
}
