import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countOf, findViolations } from '../../layers/find-violations.ts';
import { readImportGraph } from '../../layers/import-graph.ts';
import type { Layer } from '../../layers/layers.ts';

const row = (path: string, more: Partial<Layer> = {}): Layer => ({
  path,
  what: '',
  imports: [],
  packages: [],
  ...more,
});

/** Made-up layers: `app` above `stores` above `domain`, and the files of the root at the bottom. */
const LAYERS = [
  row('app', { imports: ['stores', 'domain/shapes.ts'] }),
  row('stores', { imports: ['domain', '*'], packages: ['@sdk/*', 'node:fs'] }),
  row('domain', { imports: ['*'] }),
  row('domain/commands', { isApart: true }),
  row('*'),
];

/** Writes a small project and checks its imports. Leaves out the violations of rows that allow more than the project imports. */
async function violationsIn(files: Readonly<Record<string, string>>): Promise<string[]> {
  const violations = findViolations(await projectOf(files), LAYERS, []);
  return violations.filter((violation) => !violation.endsWith('which none of its files imports'));
}

async function projectOf(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'layers-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [file, source] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), source);
  }
  return readImportGraph(root);
}

describe('the check of imports', () => {
  test('accepts imports of lower layers that the row names, and of its own row', async () => {
    const violations = await violationsIn({
      'app/main.ts': `import './part.ts'; import '../stores/files.ts'; import type { S } from '../domain/shapes.ts';`,
      'app/part.ts': '',
      'stores/files.ts': `import '../domain/file.ts'; import '@sdk/s3'; import 'node:fs'; export * from '../ids.ts';`,
      'domain/file.ts': `import '../ids.ts';`,
      'domain/shapes.ts': '',
      'ids.ts': '',
    });
    expect(violations).toEqual([]);
  });

  test.each([
    ['an import', `import { a } from '../stores/a.ts';`],
    ['an import of a type', `import type { A } from '../stores/a.ts';`],
    ['an import for its effect', `import '../stores/a.ts';`],
    ['an export of names', `export { a } from '../stores/a.ts';`],
    ['an export of a type', `export type { A } from '../stores/a.ts';`],
    ['an export of everything', `export * from '../stores/a.ts';`],
    ['a dynamic import', `export const a = await import('../stores/a.ts');`],
    ['a type import()', `export type A = import('../stores/a.ts').A;`],
    ['a typeof import()', `export let a: typeof import('../stores/a.ts').a;`],
  ])('refuses %s from a higher layer', async (_form, source) => {
    expect(await violationsIn({ 'domain/b.ts': source, 'stores/a.ts': '' })).toEqual([
      'domain/b.ts imports stores/a.ts, which is in a higher layer',
    ]);
  });

  test('refuses a lower layer that the row does not name', async () => {
    expect(await violationsIn({ 'app/main.ts': `import '../domain/file.ts';`, 'domain/file.ts': '' })).toEqual([
      'app/main.ts imports domain/file.ts, which the row of app does not allow',
    ]);
  });

  test('refuses an import between files that must stand apart', async () => {
    expect(await violationsIn({ 'domain/commands/a.ts': `import './b.ts';`, 'domain/commands/b.ts': '' })).toEqual([
      'domain/commands/a.ts imports domain/commands/b.ts, but the files of domain/commands must not import each other',
    ]);
  });

  test('refuses a row that allows what none of its files imports', async () => {
    const graph = await projectOf({ 'app/main.ts': `import '../domain/a.ts';`, 'domain/a.ts': '', 'stores/a.ts': '' });
    const layers = [row('app', { imports: ['stores', 'domain'] }), row('stores'), row('domain')];
    expect(findViolations(graph, layers, [])).toEqual([
      'the row of app allows stores, which none of its files imports',
    ]);
  });

  test('refuses a package that the row does not name', async () => {
    expect(
      await violationsIn({ 'domain/a.ts': `import '@sdk/s3';`, 'stores/a.ts': `import 'node:fs/promises';` }),
    ).toEqual(['domain/a.ts imports the package @sdk/s3, which the row of domain does not allow']);
  });

  test('refuses a file that no row holds', async () => {
    expect(await violationsIn({ 'new/a.ts': `import '../ids.ts';`, 'ids.ts': '' })).toEqual([
      'new/a.ts is in no layer: add a row to layers/layers.ts',
    ]);
  });

  test('refuses an import of a test, even by a test', async () => {
    expect(await violationsIn({ 'app/a.test.ts': `import './b.test.ts';`, 'app/b.test.ts': '' })).toEqual([
      'app/a.test.ts imports a test, app/b.test.ts',
    ]);
  });

  test('refuses a circle of files, even if one of its imports is of a type', async () => {
    expect(
      await violationsIn({
        'app/a.ts': `import './b.ts';`,
        'app/b.ts': `import type { C } from './c.ts';`,
        'app/c.ts': `import './a.ts';`,
        'app/d.ts': `import './a.ts';`,
      }),
    ).toEqual(['files import each other in a circle: app/a.ts, app/b.ts, app/c.ts']);
  });

  test('refuses a circle of folders without a circle of files, even between a folder and its subfolder', async () => {
    expect(
      await violationsIn({
        'app/main.ts': `import './parts/button.ts';`,
        'app/words.ts': '',
        'app/parts/button.ts': `import '../words.ts';`,
      }),
    ).toEqual(['folders import each other in a circle: app, app/parts']);
  });

  test('refuses a number of files beyond its bound, and counts a file once even if it is reached twice', async () => {
    const graph = await projectOf({
      'app/main.ts': `import '../stores/a.ts'; import '../stores/b.ts';`,
      'app/alone.ts': '',
      'stores/a.ts': `import type { B } from './b.ts';`,
      'stores/b.ts': '',
    });
    const inApp = { what: 'files in app/', within: 'app', max: 1 };
    const reached = { what: 'files that main reaches', reachedFrom: 'app/main.ts', max: 3 };
    expect([countOf(graph, inApp), countOf(graph, reached)]).toEqual([2, 3]);
    expect(findViolations(graph, LAYERS, [inApp, reached])).toContain('files in app/: 2, but at most 1 are allowed');
  });

  test('fails on an import of a file that does not exist', async () => {
    await expect(projectOf({ 'app/a.ts': `import './gone.ts';` })).rejects.toThrow('app/gone.ts, which does not exist');
  });
});
