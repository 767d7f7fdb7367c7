import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type App, Aspects } from 'aws-cdk-lib';
import { buildDashboard, type DashboardFiles, dashboardIn } from './bundle/build-dashboard.ts';
import { bundleFunctions } from './bundle/bundle.ts';
import { NamesByRegion } from './constructs/names-by-region.ts';
import { newApp, type SynthesisSettings } from './new-app.ts';
import { EdgeAlarmsStack } from './operations/edge-alarms-stack.ts';
import { OperationsStack } from './operations/operations-stack.ts';
import type { StageConfig } from './settings/stage.ts';
import { ApiStack } from './stacks/api-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { EdgeStack } from './stacks/edge-stack.ts';
import { FirewallStack, type WebAcl } from './stacks/firewall-stack.ts';
import { BackupStack, SecondCopyStack } from './stacks/second-copy-stacks.ts';
import { StreamingStack } from './stacks/streaming-stack.ts';

/**
 * Synthesizes the service as the settings of a stage say. If `CDK_BUNDLES` names a folder that `npm run build` has filled, nothing is
 * built.
 */
export async function synthesizeApp(stage: StageConfig, settings: SynthesisSettings): Promise<void> {
  const app = await newApp(settings);
  Aspects.of(app).add(new NamesByRegion());
  const { bundles, dashboard } = await bundle(app.outdir, settings.CDK_BUNDLES);

  const name = (part: string) => `FileHosting-${stage.name}-${part}`;
  const webAcl = webAclOf(app, name('Firewall'), stage);
  const data = new DataStack(app, name('Data'), { stage, webAcl });
  const { resources } = data;
  if (stage.secondCopy) {
    const copy = { stage, copy: stage.secondCopy };
    const second = new SecondCopyStack(app, name('SecondCopy'), copy);
    // The bucket that S3 replicates to must exist first.
    data.addStackDependency(second);
    new BackupStack(app, name('Backup'), { ...copy, resources });
  }
  const api = new ApiStack(app, name('Api'), { stage, resources, bundles });
  const streaming =
    stage.streaming && new StreamingStack(app, name('Streaming'), { stage, resources, bundles, ...stage.streaming });
  const edge = new EdgeStack(app, name('Edge'), { stage, resources, api, streaming, webAcl, dashboard });
  const distributionIds = { app: edge.distributionId, cdn: data.distributionId };
  new OperationsStack(app, name('Operations'), { stage, resources, api, streaming, distributionIds, bundles });
  new EdgeAlarmsStack(app, name('EdgeAlarms'), {
    stage,
    distributionIds: { app: edge.distributionIdOutput, cdn: data.distributionIdOutput },
  });
  app.synth();
}

/** Returns the web ACL of both distributions: the operator's own, or that of our firewall, if there is one. */
function webAclOf(app: App, id: string, { firewall, place }: StageConfig): WebAcl | undefined {
  if (firewall === 'off') return undefined;
  if ('webAclArn' in firewall) return { arn: firewall.webAclArn };
  const stack = new FirewallStack(app, id, { limits: firewall, place });
  return { arn: stack.webAclArn, stack };
}

/**
 * Builds everything that the stacks use as assets.
 * @param built  a folder in which all of it has been built already, if there is one.
 */
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
