import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotations, CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { acceptFindings } from '../../infra/constructs/accepted-finding.ts';
import { newApp } from '../../infra/new-app.ts';
import { expectAccepted, readReports } from '../support/findings.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'validation-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

describe('synthesis', () => {
  /** @returns the findings, as `<severity> <plugin>: <rule>`. */
  async function findings(build: (stack: Stack) => void): Promise<string[]> {
    // The CLI of the CDK sets this value, because by default it continues in spite of warnings. Our app must fail nevertheless.
    vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ '@aws-cdk/core:failSynthOnValidationErrors': false }));
    const app = await newApp({ CDK_OUTDIR: directory });
    const stack = new Stack(app, 'Small');
    build(stack);
    expect(() => app.synth()).toThrow('A copy of this report can be found in');
    return (await readReports(directory)).flatMap(({ pluginName, violations }) =>
      violations.map(({ severity, ruleName }) => `${severity} ${pluginName}: ${ruleName}`),
    );
  }
  const logGroup = (properties: Record<string, unknown>) => (stack: Stack) =>
    new CfnResource(stack, 'Group', { type: 'AWS::Logs::LogGroup', properties });

  test.each<[what: string, finding: string, build: (stack: Stack) => unknown]>([
    ['an unknown property', 'error CloudFormation Validate: F3002', logGroup({ Nonsense: 31 })],
    [
      'a value that CloudFormation does not take',
      'warning CloudFormation Validate: W3030',
      logGroup({ RetentionInDays: 31 }),
    ],
    [
      'an error of AwsSolutions',
      'error AwsSolutions: AwsSolutions-S1',
      (stack) => new s3.Bucket(stack, 'Bucket', { enforceSSL: true }),
    ],
    [
      'a warning of AwsSolutions',
      'warning AwsSolutions: AwsSolutions-DDB3',
      (stack) =>
        new dynamodb.Table(stack, 'Table', { partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING } }),
    ],
    [
      'a warning of CDK',
      'warning Construct Annotations: Annotation::test:hm',
      (stack) => Annotations.of(logGroup({})(stack)).addWarningV2('test:hm', 'Hm'),
    ],
  ])('fails at %s', async (_what, finding, build) => {
    expect(await findings(build)).toEqual([finding]);
  });

  test('fails at a finding that is accepted only on another resource', async () => {
    const bucket = (stack: Stack, id: string) =>
      new s3.Bucket(stack, id, { enforceSSL: true, removalPolicy: RemovalPolicy.DESTROY });
    const found = await findings((stack) => {
      acceptFindings(bucket(stack, 'Accepted'), { S1: 'For the sake of this test' });
      bucket(stack, 'Other');
    });
    expect(found).toEqual(['error AwsSolutions: AwsSolutions-S1']);
    const [report] = await readReports(directory);
    expect(report?.violations[0]?.violatingConstructs).toMatchObject([{ constructPath: 'Small/Other/Resource' }]);
  });
});

test('findings cannot be accepted on a stack, nor on a construct of several resources', async () => {
  const stack = new Stack(await newApp({ CDK_OUTDIR: directory }), 'Small');
  for (const construct of [stack, new Construct(stack, 'Group')]) {
    expect(() => acceptFindings(construct, { S1: 'All of them' })).toThrow('has no main resource');
  }
});

test('every finding in the service is accepted with a reason, and every acceptance has a finding', async () => {
  await expectAccepted('prod');
});
