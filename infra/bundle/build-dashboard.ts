import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

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
  const [pages, assets] = [join(outDir, 'dashboard'), join(outDir, 'dashboard-assets')];
  await build({
    configFile: join(DASHBOARD, 'vite.config.ts'),
    logLevel: 'silent',
    build: { outDir: pages, emptyOutDir: true },
  });
  await rm(assets, { recursive: true, force: true });
  await rename(join(pages, 'assets'), assets);
  return { pages, assets };
}
