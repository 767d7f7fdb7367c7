import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type DashboardFiles, dashboardIn } from './build-dashboard.ts';
import { bundleFunctions } from './bundle.ts';

/** What the stacks use as assets, each as soon as it has been built. */
export interface Bundles {
  /** The folder that holds a folder for each function. */
  readonly functions: Promise<string>;
  readonly dashboard: Promise<DashboardFiles>;
}

/**
 * Starts to build everything that the stacks use as assets. esbuild is a process of its own, and the dashboard is built in a thread of its
 * own, so that both go on while this thread loads the CDK.
 * @param built  a folder that `npm run build` has filled, if there is one; then nothing is built.
 */
export function startBundling(outdir: string, built: string | undefined): Bundles {
  if (built) return { functions: Promise.resolve(built), dashboard: Promise.resolve(dashboardIn(built)) };
  const bundles = join(outdir, 'bundles');
  mkdirSync(bundles, { recursive: true });
  return { functions: bundleFunctions(bundles).then(() => bundles), dashboard: buildInThread(bundles) };
}

async function buildInThread(bundles: string): Promise<DashboardFiles> {
  const thread = new Worker(new URL('./dashboard-thread.ts', import.meta.url), { workerData: bundles });
  await once(thread, 'exit');
  return dashboardIn(bundles);
}
