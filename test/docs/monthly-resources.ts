import type { MonthlyResources } from '../../docs/costs/use.ts';
import { resourcesOf, templatesOf } from '../support/synthesize-stage.ts';
import { onlySynthesized, type Synthesized, synthesized } from '../support/synthesized.ts';

/** Counts the resources of the templates that cost something per month, and reads the memory of the functions. */
export async function countMonthlyResources(): Promise<MonthlyResources> {
  const count = async (stack: string, type: string) => (await synthesized(stack, type)).length;
  const functions = [
    ...(await synthesized('Api', 'AWS::Lambda::Function')),
    ...(await synthesized('Operations', 'AWS::Lambda::Function')),
  ];
  const alarms = [
    ...(await synthesized('Operations', 'AWS::CloudWatch::Alarm')),
    ...(await synthesized('EdgeAlarms', 'AWS::CloudWatch::Alarm')),
  ];
  return {
    memoryMb: Object.fromEntries(
      functions.map(({ logicalId, Properties }) => [
        logicalId.replace(/Function[0-9A-F]{8}$/, ''),
        Properties.MemorySize as number,
      ]),
    ),
    alarmMetrics: alarms.reduce((sum, alarm) => sum + metricsOf(alarm), 0),
    compositeAlarms:
      (await count('Operations', 'AWS::CloudWatch::CompositeAlarm')) +
      (await count('EdgeAlarms', 'AWS::CloudWatch::CompositeAlarm')),
    dashboards: await count('Operations', 'AWS::CloudWatch::Dashboard'),
    secrets: await count('Data', 'AWS::SecretsManager::Secret'),
    firewallRules: await firewallRules(),
    edgeFunctions: { app: await edgeFunctions('Edge'), cdn: await edgeFunctions('Data') },
  };
}

/** The number of rules of the firewall, which only a stage on AWS has. */
async function firewallRules(): Promise<number> {
  const { Firewall } = await templatesOf('prod');
  const rules = resourcesOf(Firewall, 'AWS::WAFv2::WebACL').flatMap(({ Properties = {} }) => Properties.Rules);
  return rules.length;
}

/** The number of metrics of an alarm. CloudWatch charges an alarm by this number. */
function metricsOf({ Properties: { Metrics = [{ MetricStat: true }] } }: Synthesized): number {
  return (Metrics as { MetricStat?: unknown }[]).filter(({ MetricStat }) => MetricStat !== undefined).length;
}

async function edgeFunctions(stack: string): Promise<number> {
  const { Properties } = await onlySynthesized(stack, 'AWS::CloudFront::Distribution');
  const { DefaultCacheBehavior } = Properties.DistributionConfig as {
    DefaultCacheBehavior: { FunctionAssociations: unknown[] };
  };
  return DefaultCacheBehavior.FunctionAssociations.length;
}
