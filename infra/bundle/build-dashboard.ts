import { rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PACKAGES_FILES, packagesOf } from './packages.ts';

const DASHBOARD = join(import.meta.dirname, '../../dashboard');

/** The folders of a built dashboard. */
export interface DashboardFiles {
  /** The HTML page, and files with fixed names. */
  readonly pages: string;
  /** The files that the page loads. Their names change with their content. */
  readonly assets: string;
}

/**
 * Builds the dashboard into two folders of `outDir`, and writes a list of the packages that it contains.
 * @throws Error with Vite's message when the build fails.
 */
export async function buildDashboard(outDir: string): Promise<DashboardFiles> {
  // Vite takes a while to load, so it is loaded only for a build.
  const { build } = await import('vite');
  const { pages, assets } = dashboardIn(outDir);
  const built = await build({
    configFile: join(DASHBOARD, 'vite.config.ts'),
    // Other loaders write a compiled file into node_modules, which may be read-only.
    configLoader: 'native',
    logLevel: 'silent',
    build: { outDir: pages, emptyOutDir: true },
  });
  const outputs = [built].flat().flatMap((result) => ('output' in result ? result.output : []));
  const files = outputs.flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []));
  await writeFile(join(outDir, PACKAGES_FILES.dashboard), JSON.stringify(packagesOf(files)));
  await rm(assets, { recursive: true, force: true });
  await rename(join(pages, 'assets'), assets);
  return { pages, assets };
}

/** The folders that {@link buildDashboard} writes in `outDir`. */
export function dashboardIn(outDir: string): DashboardFiles {
  // Absolute, because Vite would resolve a relative path from the dashboard's folder.
  return { pages: resolve(outDir, 'dashboard'), assets: resolve(outDir, 'dashboard-assets') };
}
