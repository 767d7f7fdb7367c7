import { runInNewContext } from 'node:vm';
import { expect, inject, test } from 'vitest';
import { ALARM_MEANINGS } from '../../../infra/operations/alarm-meanings.ts';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';

/** The alarms on CloudFront's metrics. test/infra/settings/stage.test.ts checks the references between Regions. */

interface AlarmProperties {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions: unknown[];
  readonly OKActions: unknown[];
  readonly Threshold: number;
  readonly TreatMissingData: string;
  readonly Metrics: readonly MetricQuery[];
}

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Metric: { readonly Namespace: string; readonly MetricName: string; readonly Dimensions: unknown };
    readonly Stat: string;
  };
}

const alarms = async (stack = 'EdgeAlarms') =>
  (await synthesized(stack, 'AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => Properties as unknown as AlarmProperties,
  );

/** Each alarm with the stack and the output of its distribution. */
const DISTRIBUTIONS = [
  ['AppServerErrors', 'Edge', 'AppDistributionId'],
  ['CdnServerErrors', 'Data', 'CdnDistributionId'],
] as const;

test.each(DISTRIBUTIONS)('%s uses the metrics of the distribution of the stack %s', async (name, stack, output) => {
  const alarm = (await alarms()).find(({ AlarmName }) => AlarmName === `FileHosting-local-${name}`);
  const id = { 'Fn::GetStackOutput': { StackName: `FileHosting-local-${stack}`, OutputName: output } };
  const stats = (alarm?.Metrics ?? []).flatMap(({ MetricStat }) => MetricStat ?? []);
  const dimensions = [
    { Name: 'DistributionId', Value: id },
    { Name: 'Region', Value: 'Global' },
  ];
  expect(stats.map(({ Metric, Stat }) => [Metric.MetricName, Stat])).toEqual([
    ['5xxErrorRate', 'Average'],
    ['Requests', 'Sum'],
  ]);
  for (const { Metric } of stats) expect(Metric).toMatchObject({ Namespace: 'AWS/CloudFront', Dimensions: dimensions });
  const { templates } = await loadAssembly(inject('assembly'));
  const { logicalId } = await onlySynthesized(stack, 'AWS::CloudFront::Distribution');
  expect(templates[`FileHosting-local-${stack}`]?.Outputs?.[output]?.Value).toEqual({ Ref: logicalId });
});

test.each([
  ['one error of three requests', 100 / 3, 3, false],
  ['four errors of five requests', 80, 5, false],
  ['five errors of five hundred requests', 1, 500, true],
  ['five errors of six hundred requests', 100 * (5 / 600), 600, false],
  ['no errors of many requests', 0, 1_000_000, false],
])('%s (%d %% of %d) start an alarm: %s', async (_what, rate, requests, isBad) => {
  for (const { Metrics, Threshold } of await alarms()) {
    const { Expression = '' } = Metrics.find(({ Id }) => Id.startsWith('expr')) ?? {};
    const IF = (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise);
    expect(runInNewContext(Expression, { IF, rate, requests }) >= Threshold).toBe(isBad);
  }
});

test('missing data starts no alarm, and both alarms publish to a topic of the same stack', async () => {
  const topic = { Ref: (await onlySynthesized('EdgeAlarms', 'AWS::SNS::Topic')).logicalId };
  for (const alarm of await alarms()) {
    expect(alarm).toMatchObject({ TreatMissingData: 'notBreaching', AlarmActions: [topic], OKActions: [topic] });
  }
});

test('the alarms that publish are those of ALARM_MEANINGS, with these descriptions', async () => {
  const composite = await onlySynthesized('Operations', 'AWS::CloudWatch::CompositeAlarm');
  const all = [
    ...(await alarms()),
    ...(await alarms('Operations')),
    composite.Properties as unknown as AlarmProperties,
  ];
  const publishing = all.filter(({ AlarmActions }) => AlarmActions);
  const meanings = publishing.map(({ AlarmName, AlarmDescription }) => [AlarmName.split('-').at(-1), AlarmDescription]);
  expect(Object.fromEntries(meanings)).toEqual(ALARM_MEANINGS);
});
