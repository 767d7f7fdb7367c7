import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PACKAGE = join(import.meta.dirname, '../../clients/typescript');
const MODULES = join(import.meta.dirname, '../../node_modules');
const COMPILER = join(MODULES, '.bin/tsc');
const run = promisify(execFile);

/**
 * Makes a project whose `node_modules` has the TypeScript client as it would be published.
 * @returns its directory, which the caller removes.
 */
export async function newProject(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'file-hosting-project-'));
  const installed = join(project, 'node_modules/file-hosting-client');
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  await mkdir(installed);
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  await writeFile(join(installed, 'package.json'), await readFile(join(PACKAGE, 'package.json')));
  const builds = [
    ['-p', PACKAGE, '--outDir', join(installed, 'dist')],
    ['-p', join(PACKAGE, 'tsconfig.cjs.json'), '--outDir', join(installed, 'dist/cjs')],
  ];
  await Promise.all(builds.map((build) => run(COMPILER, build)));
  await writeFile(join(installed, 'dist/cjs/package.json'), '{"type":"commonjs"}');
  await symlink(join(MODULES, '@types/node'), join(project, 'node_modules/@types/node'));
  await symlink(join(MODULES, 'undici-types'), join(project, 'node_modules/undici-types'));
  return project;
}

/** Compiles files of a project as strict programs for Node, without the types of browsers. @throws Error when it fails. */
export async function checkTypes(project: string, ...files: string[]): Promise<void> {
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023'];
  await run(COMPILER, [...strict, '--types', 'node', ...files], { cwd: project });
}
