import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseSync, Visitor } from 'vite';

/** What one source file imports. Imports of types count, in every form that TypeScript has for them. */
export interface Imports {
  /** Files of the project, as paths from its root. */
  readonly files: readonly string[];
  /** Everything else, as it is written: `@aws-sdk/client-s3`, `node:crypto`. */
  readonly packages: readonly string[];
}

/** Every source file of a project, as a path from its root with `/`, and what it imports. */
export type ImportGraph = ReadonlyMap<string, Imports>;

/**
 * Reads the imports of all source files below a folder.
 * @throws Error when a file cannot be parsed, or imports a file that does not exist.
 */
export function readImportGraph(root: string): ImportGraph {
  const files = globSync('**/*.{ts,tsx,js}', { cwd: root, exclude: isSkipped })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();
  return new Map(files.map((file) => [file, importsOf(root, file)]));
}

const SKIPPED = new Set(['node_modules', 'cdk.out', 'dist']);
const isSkipped = (path: string) => path.split(/[\\/]/).some((name) => SKIPPED.has(name) || name.startsWith('.'));

function importsOf(root: string, file: string): Imports {
  const specifiers = specifiersIn(file, readFileSync(join(root, file), 'utf8'));
  const files = specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file), specifier.replace(/\?\w+$/, '')));
  const missing = files.find((path) => !existsSync(join(root, path)));
  if (missing !== undefined) throw new Error(`${file} imports ${missing}, which does not exist`);
  return { files, packages: specifiers.filter((specifier) => !specifier.startsWith('.')) };
}

function specifiersIn(file: string, source: string): string[] {
  const { program, errors } = parseSync(file, source);
  const [error] = errors;
  if (error) throw new Error(`${file}: ${error.message}`);
  const found = new Set<string>();
  const add = ({ source }: { source: { type: string; value?: unknown } | null }) => {
    if (source?.type === 'Literal' && typeof source.value === 'string') found.add(source.value);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(program);
  return [...found];
}

/** All files that a file imports, directly or through others, itself included. */
export function reachableFrom(graph: ImportGraph, file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  // A loop over a set also visits the entries that are added during the loop.
  for (const each of reached) for (const next of graph.get(each)?.files ?? []) reached.add(next);
  return reached;
}

/** The graph between folders: each folder with those other folders that its own files import from. */
export function folderGraph(graph: ImportGraph): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, Set<string>>();
  for (const [file, { files }] of graph) {
    const from = dirname(file);
    const targets = folders.get(from) ?? new Set();
    folders.set(from, targets);
    for (const target of files) if (dirname(target) !== from) targets.add(dirname(target));
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}
