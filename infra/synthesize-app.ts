import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Aspects } from 'aws-cdk-lib';
import { buildDashboard, type DashboardFiles, dashboardIn } from './bundle/build-dashboard.ts';
import { bundleFunctions } from './bundle/bundle.ts';
import { NamesByRegion } from './constructs/names-by-region.ts';
import { newApp } from './new-app.ts';
import { EdgeAlarmsStack } from './operations/edge-alarms-stack.ts';
import { OperationsStack } from './operations/operations-stack.ts';
import type { Environment } from './settings/operator-variables.ts';
import { readStageConfig } from './settings/stage.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { EdgeStack } from './stacks/edge-stack.ts';
import { FirewallStack } from './stacks/firewall-stack.ts';
import { StreamingStack } from './stacks/streaming-stack.ts';

/**
 * Synthesizes the service. Limits come from the environment (shared/limits.ts), the stage from context. `CDK_BUNDLES` names a
 * folder that `npm run build` has filled; then nothing is built.
 * @param context  is added to the context in the environment of the process.
 * @throws Error naming an invalid setting, before anything is built.
 */
export async function synthesizeApp(
  environment: Environment,
  context: Readonly<Record<string, string>> = {},
): Promise<void> {
  const app = await newApp(environment, context);
  const stage = readStageConfig(app, environment);
  Aspects.of(app).add(new NamesByRegion());
  const { bundles, dashboard } = await bundle(app.outdir, environment.CDK_BUNDLES);

  const name = (part: string) => `FileHosting-${stage.name}-${part}`;
  const data = new DataStack(app, name('Data'), stage);
  const api = new ApiStack(app, name('Api'), { stage, resources: data.resources, bundles });
  const streaming = stage.streamingUploads
    ? new StreamingStack(app, name('Streaming'), { stage, resources: data.resources, bundles, data })
    : undefined;
  /** The Region of the stacks that do not name one. The CLI sets this variable; without the CLI nothing is deployed. */
  const region = environment.CDK_DEFAULT_REGION;
  const limit = stage.firewallRequestsPerFiveMinutes;
  const firewall = limit === undefined ? undefined : new FirewallStack(app, name('Firewall'), { limit, region });
  const edge = new EdgeStack(app, name('Edge'), {
    stage,
    resources: data.resources,
    api: api.restApi,
    streaming,
    firewall,
    dashboard,
  });
  const distributions = { app: edge.distribution, cdn: data.distribution };
  new OperationsStack(app, name('Operations'), { stage, resources: data.resources, api, streaming, distributions });
  new EdgeAlarmsStack(app, name('EdgeAlarms'), {
    stage,
    distributionIds: { app: edge.distributionId, cdn: data.distributionId },
    region,
  });
  app.synth();
}

/** Builds everything that the stacks use as assets. @param built  the folder where it has been built already, if it has. */
async function bundle(
  outdir: string,
  built: string | undefined,
): Promise<{ bundles: string; dashboard: DashboardFiles }> {
  if (built) return { bundles: built, dashboard: dashboardIn(built) };
  const bundles = join(outdir, 'bundles');
  mkdirSync(bundles, { recursive: true });
  const [dashboard] = await Promise.all([buildDashboard(bundles), bundleFunctions(bundles)]);
  return { bundles, dashboard };
}
