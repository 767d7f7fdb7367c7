import { expect, inject, test } from 'vitest';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { metricsOf, templateAlarms } from '../../support/alarms.ts';
import { onlySynthesized, synthesized } from '../../support/synthesized.ts';

/** The alarms on CloudFront's metrics. test/infra/settings/stage.test.ts checks the references between Regions. */

/** Each alarm with its distributions: in words, and by the outputs of the stacks that hold the ids of these distributions. */
const DISTRIBUTIONS: [alarm: string, words: string, outputs: [stack: string, output: string][]][] = [
  ['CdnServerErrors', 'the distribution of the CDN', [['Data', 'CdnDistributionId']]],
  [
    'TrafficCost',
    'both distributions',
    [
      ['Edge', 'AppDistributionId'],
      ['Data', 'CdnDistributionId'],
    ],
  ],
];

test.each(DISTRIBUTIONS)('the alarm %s uses the metrics of %s', async (name, _words, outputs) => {
  const alarm = (await templateAlarms()).find((one) => one.name === name);
  const metrics = (alarm?.all ?? []).flatMap(metricsOf);
  const parameters = await synthesized('EdgeAlarms', 'AWS::SSM::Parameter');
  const dimensionsOf = ([stack, OutputName]: [string, string]) => {
    const Value = { 'Fn::GetStackOutput': { StackName: `FileHosting-local-${stack}`, OutputName } };
    const parameter = parameters.find(({ Properties }) => JSON.stringify(Properties.Value) === JSON.stringify(Value));
    return [
      { Name: 'DistributionId', Value: { 'Fn::GetAtt': [parameter?.logicalId, 'Value'] } },
      { Name: 'Region', Value: 'Global' },
    ];
  };
  const used = new Set(metrics.map(({ Dimensions }) => JSON.stringify(Dimensions)));
  expect(used).toEqual(new Set(outputs.map((output) => JSON.stringify(dimensionsOf(output)))));
  const { templates } = await loadAssembly(inject('assembly'));
  for (const [stack, output] of outputs) {
    const { logicalId } = await onlySynthesized(stack, 'AWS::CloudFront::Distribution');
    expect(templates[`FileHosting-local-${stack}`]?.Outputs?.[output]?.Value).toEqual({ Ref: logicalId });
  }
});
