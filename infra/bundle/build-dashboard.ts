import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const DASHBOARD = join(import.meta.dirname, '../../dashboard');

/** Where a build of the dashboard is: its page, and what the page loads, whose names change with its content. */
export interface DashboardFiles {
  readonly pages: string;
  readonly assets: string;
}

/**
 * Builds the dashboard into two folders of `outDir`.
 * @throws Error with Vite's message when it does not build.
 */
export async function buildDashboard(outDir: string): Promise<DashboardFiles> {
  // Loading it takes a while, which is in vain where all is built.
  const { build } = await import('vite');
  const { pages, assets } = dashboardIn(outDir);
  await build({
    configFile: join(DASHBOARD, 'vite.config.ts'),
    logLevel: 'silent',
    build: { outDir: pages, emptyOutDir: true },
  });
  await rm(assets, { recursive: true, force: true });
  await rename(join(pages, 'assets'), assets);
  return { pages, assets };
}

/** What {@link buildDashboard} makes in a folder. */
export function dashboardIn(outDir: string): DashboardFiles {
  // Vite takes a relative path for one from the dashboard.
  return { pages: resolve(outDir, 'dashboard'), assets: resolve(outDir, 'dashboard-assets') };
}
