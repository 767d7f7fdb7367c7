import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const MODULES = join(ROOT, 'node_modules');
const COMPILER = join(MODULES, '.bin/tsc');
const run = promisify(execFile);

/**
 * Makes a project whose `node_modules` has the TypeScript client as npm would publish it.
 * @returns its directory, which the caller removes.
 */
export async function newProject(): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'file-hosting-project-'));
  const installed = join(project, 'node_modules/file-hosting-client');
  await mkdir(join(project, 'node_modules/@types'), { recursive: true });
  await mkdir(installed);
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  const packed = await pack(project);
  await run('tar', ['-xzf', packed, '-C', installed, '--strip-components=1']);
  await symlink(join(MODULES, '@types/node'), join(project, 'node_modules/@types/node'));
  await symlink(join(MODULES, 'undici-types'), join(project, 'node_modules/undici-types'));
  return project;
}

/** Packs a copy of the client, because others may pack it at the same time. @returns the path of the archive. */
async function pack(directory: string): Promise<string> {
  const copy = join(directory, 'repository/clients/typescript');
  await cp(PACKAGE, copy, { recursive: true });
  await cp(join(ROOT, 'tsconfig.json'), join(directory, 'repository/tsconfig.json'));
  const env = { ...process.env, PATH: [join(MODULES, '.bin'), process.env.PATH].join(delimiter) };
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: copy, env });
  return join(directory, stdout.trim().split('\n').at(-1) ?? '');
}

/** Compiles files of a project as strict programs for Node, without the types of browsers. @throws Error when it fails. */
export async function checkTypes(project: string, ...files: string[]): Promise<void> {
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023'];
  await run(COMPILER, [...strict, '--types', 'node', ...files], { cwd: project });
}
