import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The files to which a build writes the list of the packages that it has bundled. */
export const PACKAGES_FILES = { functions: 'packages.json', dashboard: 'dashboard-packages.json' } as const;

/**
 * Returns the folders of the packages that the files belong to, from the root of the project: `node_modules/jose`. It leaves out our
 * own files.
 * @param files  paths, absolute or from the root of the project.
 */
export function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? []);
  const relative = folders.map((folder) => folder.slice(folder.indexOf('node_modules/')));
  return [...new Set(relative)].toSorted();
}

/** Reads which packages are in the bundles of a folder, as `name@version`. */
export async function bundledPackages(bundles: string): Promise<string[]> {
  const lists = await Promise.all(
    Object.values(PACKAGES_FILES).map(async (file) => JSON.parse(await readFile(join(bundles, file), 'utf8'))),
  );
  const folders = [...new Set((lists as string[][]).flat())];
  const names = await Promise.all(
    folders.map(async (folder) => {
      const { name, version } = JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'));
      return `${name}@${version}`;
    }),
  );
  return [...new Set(names)].toSorted();
}
