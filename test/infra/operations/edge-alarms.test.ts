import { expect, inject, test } from 'vitest';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { metricsOf, templateAlarms } from '../../support/alarms.ts';
import { onlySynthesized } from '../../support/synthesized.ts';

/** The alarms on CloudFront's metrics. test/infra/settings/stage.test.ts checks the references between Regions. */

/** Each alarm with the stacks and the outputs of its distributions. */
const DISTRIBUTIONS: [alarm: string, outputs: [stack: string, output: string][]][] = [
  ['AppServerErrors', [['Edge', 'AppDistributionId']]],
  ['CdnServerErrors', [['Data', 'CdnDistributionId']]],
  [
    'TrafficCost',
    [
      ['Edge', 'AppDistributionId'],
      ['Data', 'CdnDistributionId'],
    ],
  ],
];

test.each(DISTRIBUTIONS)('%s uses the metrics of the distributions of %j', async (name, outputs) => {
  const alarm = (await templateAlarms()).find((one) => one.name === name);
  const metrics = (alarm?.all ?? []).flatMap(metricsOf);
  const dimensionsOf = ([stack, OutputName]: [string, string]) => [
    {
      Name: 'DistributionId',
      Value: { 'Fn::GetStackOutput': { StackName: `FileHosting-local-${stack}`, OutputName } },
    },
    { Name: 'Region', Value: 'Global' },
  ];
  const used = new Set(metrics.map(({ Dimensions }) => JSON.stringify(Dimensions)));
  expect(used).toEqual(new Set(outputs.map((output) => JSON.stringify(dimensionsOf(output)))));
  const { templates } = await loadAssembly(inject('assembly'));
  for (const [stack, output] of outputs) {
    const { logicalId } = await onlySynthesized(stack, 'AWS::CloudFront::Distribution');
    expect(templates[`FileHosting-local-${stack}`]?.Outputs?.[output]?.Value).toEqual({ Ref: logicalId });
  }
});
