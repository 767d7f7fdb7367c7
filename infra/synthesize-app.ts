import { type App, Aspects } from 'aws-cdk-lib';
import type { Bundles } from './bundle/start-bundling.ts';
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

/** Synthesizes the service as the settings of a stage say. @param bundles  what the stacks use as assets; they may still be in the making. */
export async function synthesizeApp(stage: StageConfig, bundles: Bundles, settings: SynthesisSettings): Promise<void> {
  const app = await newApp(settings);
  Aspects.of(app).add(new NamesByRegion());

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
  const withCode = { stage, resources, bundles: await bundles.functions };
  const api = new ApiStack(app, name('Api'), withCode);
  const streaming = stage.streaming && new StreamingStack(app, name('Streaming'), { ...withCode, ...stage.streaming });
  const dashboard = await bundles.dashboard;
  const edge = new EdgeStack(app, name('Edge'), { stage, resources, api, streaming, webAcl, dashboard });
  const distributionIds = { app: edge.distributionId, cdn: data.distributionId };
  new OperationsStack(app, name('Operations'), { ...withCode, api, streaming, distributionIds });
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
