import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { StageName, StageSettings } from '../../../infra/settings/stage.ts';
import type { Template } from '../../../local-aws/service.ts';
import { resolveDeployment } from '../../../local-aws/template/deployment.ts';
import { TABLES, type TableName } from '../../../shared/tables.ts';
import { resourcesOf, type SynthesizedStage, synthesizeStage } from '../../support/synthesize-stage.ts';

/** The values that stacks have from each other. */

const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;
const VARIANTS: readonly [words: string, stage: StageName, changes: Partial<StageSettings>][] = [
  ['local', 'local', {}],
  ['dev, without streaming', 'dev', { streaming: 'off' }],
  ['prod', 'prod', {}],
  ['prod in us-east-1', 'prod', { region: 'us-east-1' }],
  [
    'prod with domains, a budget, a second copy and restored tables',
    'prod',
    {
      appDomain: { name: 'files.example.com', certificateArn: certificate('app') },
      cdnDomain: { name: 'cdn.example.net', certificateArn: certificate('cdn') },
      alarmEmails: { ticket: ['ops@example.com'] },
      monthlyBudgetUsd: 100,
      secondCopy: { region: 'eu-west-1', keepDays: 30 },
      restoredTables: Object.fromEntries(Object.keys(TABLES).map((name) => [name, `FileHosting-prod-${name}-2`])),
    },
  ],
];

const variants = await Promise.all(VARIANTS.map(([, stage, changes]) => synthesizeStage(stage, changes)));
const restored = await synthesizeStage('local', { restoredTables: { files: 'FileHosting-local-restored-files' } });
afterAll(() => Promise.all([...variants, restored].map(({ remove }) => remove())));

/** The part of a stack's name that says what it has: `Api`. */
const partOf = (stack: string) => stack.split('-')[2] ?? '';

interface Parameter {
  readonly Type: string;
  readonly Default: string;
  readonly Description?: string;
}

/** The parameters of a template that CloudFormation fills from SSM, without the one of `cdk bootstrap`. */
function readBy(template: Template): Parameter[] {
  const { BootstrapVersion: _, ...parameters } = (template.Parameters ?? {}) as Record<string, Parameter>;
  return Object.values(parameters);
}

/** The names of the SSM parameters that a stack makes. */
const madeBy = (template: Template | undefined) =>
  resourcesOf(template, 'AWS::SSM::Parameter').map(({ Properties }) => String(Properties?.Name));

describe.each(VARIANTS.map(([words], index) => [words, index] as const))('in the stage %s', (_words, index) => {
  const { templates, directory } = variants[index] as SynthesizedStage;

  test('a stack looks up at most one output for each value, and only values of another Region', () => {
    const found = Object.entries(templates).map(([stack, template]) => {
      const lookups = JSON.stringify(template).match(/\{"Fn::GetStackOutput":\{[^}]*\}/g) ?? [];
      expect([stack, lookups]).toEqual([stack, [...new Set(lookups)]]);
      return [partOf(stack), lookups.length] as const;
    });
    const counts = Object.fromEntries(found.filter(([, count]) => count > 0));
    // The ids of both distributions are read in us-east-1, and the ARN of the firewall in the Region of the service.
    expect(counts).toEqual({ EdgeAlarms: 2, ...('Firewall' in byPart(templates) && { Data: 1, Edge: 1 }) });
  });

  test('the CDK CLI skips no stack that looks up an output, because it has a parameter from SSM', () => {
    for (const [stack, template] of Object.entries(templates)) {
      if (!JSON.stringify(template).includes('Fn::GetStackOutput')) continue;
      // The CLI ignores a parameter with this mark, as that of `cdk bootstrap` has it.
      const read = readBy(template).filter(({ Description = '' }) => !Description.includes('[cdk:skip]'));
      expect([stack, read.map(({ Type }) => Type)]).toEqual([
        stack,
        expect.arrayContaining(['AWS::SSM::Parameter::Value<String>']),
      ]);
    }
  });

  test('every other value is in an SSM parameter of a stack that is deployed before', async () => {
    const manifest = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'));
    const readers = Object.values<{ type: string; displayName?: string; dependencies?: string[] }>(manifest.artifacts);
    const read = readers.flatMap(({ type, displayName = '', dependencies = [] }) => {
      const template = templates[displayName];
      if (type !== 'aws:cloudformation:stack' || !template) return [];
      const values = readBy(template).filter(({ Default }) => !Default.startsWith('/cdk-bootstrap/'));
      return values.map((parameter) => {
        const makers = Object.keys(templates).filter((stack) => madeBy(templates[stack]).includes(parameter.Default));
        expect([displayName, parameter.Default, makers.length]).toEqual([displayName, parameter.Default, 1]);
        expect([displayName, dependencies]).toEqual([displayName, expect.arrayContaining(makers)]);
        return parameter;
      });
    });
    expect(read.length).toBeGreaterThan(25);
    // A description with this word would let the CDK skip a stack although a value has changed.
    expect(read.filter(({ Description = '' }) => Description.includes('[cdk:skip]'))).toEqual([]);
    expect(JSON.stringify(templates)).not.toMatch(/"Export"|Fn::ImportValue/);
  });
});

function byPart(templates: Readonly<Record<string, Template>>): Record<string, Template> {
  return Object.fromEntries(Object.entries(templates).map(([stack, template]) => [partOf(stack), template]));
}

describe('a restored table in place of the original one', () => {
  const RESTORED = 'FileHosting-local-restored-files';
  const [original] = variants as [SynthesizedStage];
  const textOf = (value: unknown) => JSON.stringify(value);

  /** The resolved functions and policies outside of the data stack, as the local AWS deploys them, and the name of the table. */
  function deployed(stage: SynthesizedStage): { text: string; table: string } {
    const account = { accountId: '123456789012', region: 'eu-central-1' };
    const options = { assembly: stage, account, addresses: new Map(), secretValue: () => '' };
    const deployment = resolveDeployment(options);
    const readers = deployment
      .resources('AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision', 'AWS::IAM::Policy')
      .filter(({ stack }) => partOf(stack) !== 'Data');
    const shared = deployment
      .resources('AWS::SSM::Parameter')
      .find(({ ref }) => ref === '/file-hosting/local/shared/FilesTable');
    return { text: textOf(readers.map((each) => each.properties())), table: String(shared?.properties().Value) };
  }

  test('is no longer made by the data stack, and its deletion policy was Retain in prod', () => {
    const tables = ({ templates }: SynthesizedStage) => {
      const { Resources = {} } = byPart(templates).Data ?? {};
      return Object.keys(Resources).filter((id) => Resources[id]?.Type === 'AWS::DynamoDB::GlobalTable');
    };
    const left = tables(original).filter((id) => !tables(restored).includes(id));
    expect(left).toEqual([expect.stringMatching(/^FilesTable/)]);
    const production = byPart((variants[2] as SynthesizedStage).templates);
    expect(production.Data?.Resources[String(left)]?.DeletionPolicy).toBe('RetainExceptOnCreate');
    expect(resourcesOf(byPart((variants[4] as SynthesizedStage).templates).Data, 'AWS::DynamoDB::GlobalTable')).toEqual(
      [],
    );
  });

  test('changes no template but that of the data stack', () => {
    const changed = Object.keys(restored.templates).filter(
      (stack) => textOf(restored.templates[stack]) !== textOf(original.templates[stack]),
    );
    expect(changed.map(partOf)).toEqual(['Data']);
  });

  test('takes its place in every variable and permission of the other stacks', () => {
    const [before, after] = [deployed(original), deployed(restored)];
    expect([before.table, after.table]).toEqual([
      expect.stringMatching(/^FileHosting-local-Data-FilesTable/),
      RESTORED,
    ]);
    expect(before.text.split(before.table).length).toBeGreaterThan(20);
    expect(after.text).toBe(before.text.replaceAll(before.table, RESTORED));
  });

  test("is in the operator's parameter", () => {
    const { Data } = byPart(restored.templates);
    const operator = resourcesOf(Data, 'AWS::SSM::Parameter').find(({ Properties }) =>
      String(Properties?.Name).endsWith('/operator'),
    );
    expect(textOf(operator)).toContain(`\\"FILES_TABLE\\":\\"${RESTORED}\\"`);
  });

  test('has the same SSM parameters as the original one, so that each stack can be rolled back by itself', () => {
    const names = ({ templates }: SynthesizedStage) => madeBy(byPart(templates).Data).toSorted();
    expect(names(restored)).toEqual(names(original));
    const tables = Object.keys(TABLES) as TableName[];
    expect(names(original).filter((name) => name.endsWith('Table'))).toHaveLength(tables.length);
  });
});
