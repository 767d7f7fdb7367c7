import { dirname } from 'node:path';
import { folderGraph, type ImportGraph, reachableFrom } from './import-graph.ts';
import type { Bound, Layer } from './layers.ts';

/**
 * @returns one sentence for each import, size or circle that breaks a rule, each file without a layer, and each unused entry of a row;
 *   empty when all rules hold.
 */
export function findViolations(graph: ImportGraph, layers: readonly Layer[], bounds: readonly Bound[]): string[] {
  return [
    ...[...graph].flatMap(([file, { files, packages }]) => [
      ...files.flatMap((target) => violationOfImport(layers, file, target)),
      ...packages.flatMap((name) => violationOfPackage(layers, file, name)),
    ]),
    ...layers.flatMap((layer) => unusedEntries(graph, layers, layer)),
    ...findCircles(new Map([...graph].map(([file, { files }]) => [file, files]))).map(
      (circle) => `files import each other in a circle: ${circle.join(', ')}`,
    ),
    ...findCircles(folderGraph(graph)).map((circle) => `folders import each other in a circle: ${circle.join(', ')}`),
    ...bounds.flatMap((bound) => {
      const count = countOf(graph, bound);
      return count > bound.max ? [`${bound.what}: ${count}, but at most ${bound.max} are allowed`] : [];
    }),
  ];
}

/** How many files a bound counts. */
export function countOf(graph: ImportGraph, bound: Bound): number {
  if ('reachedFrom' in bound) return reachableFrom(graph, bound.reachedFrom).size;
  return [...graph.keys()].filter((file) => isWithin(file, bound.within)).length;
}

function violationOfImport(layers: readonly Layer[], file: string, target: string): string[] {
  const [from, to] = [layerOf(layers, file), layerOf(layers, target)];
  if (!from) return [`${file} is in no layer: add a row to layers/layers.ts`];
  if (target.endsWith('.test.ts')) return [`${file} imports a test, ${target}`];
  if (from === to) {
    return from.isApart ? [`${file} imports ${target}, but the files of ${from.path} must not import each other`] : [];
  }
  if (!to || layers.indexOf(to) < layers.indexOf(from))
    return [`${file} imports ${target}, which is in a higher layer`];
  const isAllowed = from.imports.some((path) => isWithin(target, path));
  return isAllowed ? [] : [`${file} imports ${target}, which the row of ${from.path} does not allow`];
}

function violationOfPackage(layers: readonly Layer[], file: string, name: string): string[] {
  const layer = layerOf(layers, file);
  if (!layer) return [];
  const isAllowed = layer.packages.some((allowed) =>
    allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : isWithin(name, allowed),
  );
  return isAllowed ? [] : [`${file} imports the package ${name}, which the row of ${layer.path} does not allow`];
}

/** Finds imports that a row allows but none of its files needs. The table must not allow more than is needed. */
function unusedEntries(graph: ImportGraph, layers: readonly Layer[], layer: Layer): string[] {
  const own = [...graph].filter(([file]) => layerOf(layers, file) === layer);
  const targets = own.flatMap(([, { files }]) => files);
  return layer.imports
    .filter((path) => !targets.some((target) => isWithin(target, path)))
    .map((path) => `the row of ${layer.path} allows ${path}, which none of its files imports`);
}

/** The layer with the longest path that holds the file. */
function layerOf(layers: readonly Layer[], file: string): Layer | undefined {
  const holding = layers.filter(({ path }) => isWithin(file, path));
  return holding.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** `folder/*` stands for the files directly in a folder. `folder` stands for these files and those in its subfolders. */
function isWithin(file: string, path: string): boolean {
  return path.endsWith('*') ? dirname(file) === dirname(path) : file === path || file.startsWith(`${path}/`);
}

/**
 * The circles of a directed graph. Each is a list of nodes that can all reach each other, or one node that points to itself. Tarjan's
 * algorithm finds them as strongly connected components.
 */
function findCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  /** @returns the number of the earliest visited open node that `node` reaches. */
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    open.push(node);
    const targets = graph.get(node) ?? [];
    const reached = targets.map((next) => {
      if (!order.has(next)) return visit(next);
      return open.includes(next) ? (order.get(next) ?? own) : own;
    });
    const earliest = Math.min(own, ...reached);
    if (earliest === own) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1 || targets.includes(node)) circles.push(circle.toSorted());
    }
    return earliest;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}
