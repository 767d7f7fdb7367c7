// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's
import { describe, expect, test } from 'vitest';
import { loadAssembly, type Template } from '../../../local-aws/template/assembly.ts';
import { type DeploymentOptions, resolveDeployment } from '../../../local-aws/template/deployment.ts';
import { ACCOUNT, writeAssembly } from '../assembly-fixture.ts';

const DATA: Template = {
  Resources: {
    Files1399FAA4: { Type: 'AWS::DynamoDB::GlobalTable' },
    Named: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'restored' } },
    Uploads: { Type: 'AWS::S3::Bucket' },
    Cdn: { Type: 'AWS::CloudFront::Distribution' },
    Secret: { Type: 'AWS::SecretsManager::Secret' },
  },
  Outputs: {
    Table: { Value: { Ref: 'Files1399FAA4' } },
    Bucket: { Value: { 'Fn::GetAtt': ['Uploads', 'RegionalDomainName'] } },
  },
};

async function deploy(templates: Record<string, Partial<Template>>, options: Partial<DeploymentOptions> = {}) {
  const assembly = await loadAssembly(await writeAssembly(templates, { code: { 'index.js': '' } }));
  return resolveDeployment({ assembly, account: ACCOUNT, secretValue: () => '', addresses: new Map(), ...options });
}

/** The resolved value of `value` in a stack beside the data stack. */
async function resolve(value: unknown, options: Partial<DeploymentOptions> = {}): Promise<unknown> {
  const parameter = { Type: 'AWS::SSM::Parameter', Properties: { Value: value } };
  const Resources = { Parameter: parameter, Own: { Type: 'AWS::S3::Bucket' } };
  const deployment = await deploy({ Data: DATA, Api: { Resources } }, options);
  return deployment.resources('AWS::SSM::Parameter')[0]?.properties().Value;
}

describe('names', () => {
  test('have the form of those of CloudFormation, and are the same at every start', async () => {
    const [first, second] = [await deploy({ Data: DATA }), await deploy({ Data: DATA })];
    const name = first.resources('AWS::DynamoDB::GlobalTable')[0]?.ref;
    expect(name).toMatch(/^Data-Files1399FAA4-[0-9A-Z]{12}$/);
    expect(second.resources('AWS::DynamoDB::GlobalTable')[0]?.ref).toBe(name);
  });

  test('differ between accounts', async () => {
    const here = await deploy({ Data: DATA });
    const there = await deploy({ Data: DATA }, { account: { ...ACCOUNT, accountId: '999999999999' } });
    expect(there.resources('AWS::S3::Bucket')[0]?.ref).not.toBe(here.resources('AWS::S3::Bucket')[0]?.ref);
  });

  test('are those of the template where it has them', async () => {
    const [table] = (await deploy({ Data: DATA })).resources('AWS::DynamoDB::Table');
    expect(table?.ref).toBe('restored');
    expect(table?.attribute('Arn')).toBe('arn:aws:dynamodb:eu-west-1:111122223333:table/restored');
  });

  test.each([
    ['a bucket', 'Uploads', 'AWS::S3::Bucket', /^[0-9a-z-]{1,63}$/],
    ['a function with a long logical id', 'A'.repeat(200), 'AWS::Lambda::Function', /^.{64}$/],
    ['a table with a long logical id', 'A'.repeat(200), 'AWS::DynamoDB::Table', /^.{209,255}$/],
    ['a distribution', 'Cdn', 'AWS::CloudFront::Distribution', /^E[0-9A-Z]{13}$/],
    ['an API', 'Api', 'AWS::ApiGateway::RestApi', /^[0-9a-z]{10}$/],
  ])('the name of %s follows the rules of its type', async (_name, logicalId, Type, pattern) => {
    const deployment = await deploy({ Stack: { Resources: { [logicalId]: { Type } } } });
    expect(deployment.resources(Type)[0]?.ref).toMatch(pattern);
  });
});

describe('references to another stack', () => {
  test('read its outputs', async () => {
    const value = await resolve({ 'Fn::GetStackOutput': { StackName: 'Data', OutputName: 'Bucket' } });
    expect(value).toMatch(/^data-uploads-[0-9a-z]{12}\.s3\.eu-west-1\.amazonaws\.com$/);
  });

  test.each([
    ['by Fn::ImportValue', { 'Fn::ImportValue': 'Data:Table' }, 'does not know the intrinsic function Fn::ImportValue'],
    [
      'to a missing output',
      { 'Fn::GetStackOutput': { StackName: 'Data', OutputName: 'Missing' } },
      'no output "Missing"',
    ],
    [
      'to a missing stack',
      { 'Fn::GetStackOutput': { StackName: 'Missing', OutputName: 'Table' } },
      'no stack "Missing"',
    ],
    ['to a missing resource', { 'Fn::GetAtt': ['Missing', 'Arn'] }, 'no resource "Missing"'],
    ['to a missing attribute', { 'Fn::GetAtt': ['Own', 'Color'] }, 'no attribute "Color"'],
  ])('a reference %s is an error', async (_name, value, message) => {
    await expect(resolve(value)).rejects.toThrow(message);
  });
});

describe('parameters of a template', () => {
  const made = (Value: unknown) => ({ Type: 'AWS::SSM::Parameter', Properties: { Name: '/shared/table', Value } });
  const reader = (Default: string, Type = 'AWS::SSM::Parameter::Value<String>'): Partial<Template> => ({
    Parameters: { Table: { Type, Default } },
    Resources: { Copy: { Type: 'AWS::SSM::Parameter', Properties: { Name: '/copy', Value: { Ref: 'Table' } } } },
  });
  const maker = (Value: unknown): Partial<Template> => ({
    Resources: { Made: { Type: 'AWS::DynamoDB::Table' }, Parameter: made(Value) },
  });
  const read = async (templates: Record<string, Partial<Template>>) => {
    const parameters = (await deploy(templates)).resources('AWS::SSM::Parameter');
    return parameters.find(({ ref }) => ref === '/copy')?.properties().Value;
  };

  test.each([
    ['a name that a stack before it has stored', { Ref: 'Made' }, /^Data-Made-[0-9A-Z]{12}$/],
    ['a fixed value', 'restored', /^restored$/],
    ['an attribute', { 'Fn::GetAtt': ['Made', 'Arn'] }, /^arn:aws:dynamodb:.*\/Data-Made-/],
  ])('have the value of an SSM parameter: %s', async (_name, value, expected) => {
    expect(await read({ Data: maker(value), Api: reader('/shared/table') })).toMatch(expected);
  });

  test('are not resolved when only `cdk bootstrap` makes them', async () => {
    const Parameters = {
      BootstrapVersion: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/cdk-bootstrap/x/version' },
    };
    await deploy({ Data: { ...DATA, Parameters } });
  });

  const missing = 'Api reads the SSM parameter "/shared/table", which no stack before it makes';
  test.each<[string, Record<string, Partial<Template>>, string]>([
    ['no stack makes', { Data: DATA, Api: reader('/shared/table') }, missing],
    ['only a later stack makes', { Api: reader('/shared/table'), Data: maker('x') }, missing],
    ['the stack itself makes', { Api: { ...reader('/shared/table'), ...maker('x') } }, missing],
    [
      'has another type',
      { Data: maker('x'), Api: reader('/shared/table', 'String') },
      'Table in Api: the local AWS does not implement parameters of type String',
    ],
  ])('an SSM parameter that %s is an error', async (_name, templates, message) => {
    await expect(deploy(templates)).rejects.toThrow(message);
  });
});

describe('secrets', () => {
  const reference = (rest: string) => `{{resolve:secretsmanager:${rest}}}`;
  const secretValue = (id: string) => JSON.stringify({ current: `secret of ${id}` });

  test.each([
    ['inside of a text', `x ${reference('name:SecretString:current::')} y`, 'x secret of name y'],
    ['without its last colons', reference('name:SecretString:current'), 'secret of name'],
    [
      'by ARN',
      reference('arn:aws:secretsmanager:eu-west-1:1:secret:a-B:SecretString:current::'),
      'secret of arn:aws:secretsmanager:eu-west-1:1:secret:a-B',
    ],
    ['to the whole secret', reference('name:SecretString:::'), '{"current":"secret of name"}'],
  ])('a reference %s becomes the value', async (_name, text, expected) => {
    expect(await resolve(text, { secretValue })).toBe(expected);
  });

  test.each([
    ['to a missing key', reference('name:SecretString:missing::'), 'no key "missing"'],
    ['to a parameter', '{{resolve:ssm:/a/b}}', 'does not know the dynamic reference'],
    ['without SecretString', reference('name'), 'does not know the dynamic reference'],
  ])('a reference %s is an error', async (_name, text, message) => {
    await expect(resolve(text, { secretValue })).rejects.toThrow(message);
  });
});

describe('addresses', () => {
  const addresses = new Map([['d1.cloudfront.net', 'localhost:8787']]);
  test.each([
    ['a URL becomes that of the local server', 'https://d1.cloudfront.net', 'http://localhost:8787'],
    [
      'a URL in a text becomes that of the local server',
      "connect-src 'self' https://d1.cloudfront.net; img-src *",
      "connect-src 'self' http://localhost:8787; img-src *",
    ],
    ['a URL with a path keeps the path', 'https://d1.cloudfront.net/a/b', 'http://localhost:8787/a/b'],
    ['a domain name alone stays', 'd1.cloudfront.net', 'd1.cloudfront.net'],
    [
      'a domain name that only begins like a known one stays',
      'https://d1.cloudfront.net.example',
      'https://d1.cloudfront.net.example',
    ],
    ['an unknown domain name stays', 'https://other.cloudfront.net', 'https://other.cloudfront.net'],
  ])('%s', async (_name, text, expected) => {
    expect(await resolve(text, { addresses })).toBe(expected);
  });
});

describe('resources', () => {
  test('a resource of an unknown type is an error that names it', async () => {
    await expect(deploy({ Stack: { Resources: { Web: { Type: 'AWS::EC2::VPC' } } } })).rejects.toThrow(
      'nothing for AWS::EC2::VPC (Web)',
    );
  });

  test('a resource with a condition is an error', async () => {
    const Resources = { Data: { Type: 'AWS::S3::Bucket', Condition: 'Never' } };
    await expect(deploy({ Stack: { Resources } })).rejects.toThrow('Data: the local AWS does not implement Condition');
  });

  test('resources that refer to each other in a circle are an error', async () => {
    const Resources = {
      A: { Type: 'AWS::SSM::Parameter', Properties: { Name: { Ref: 'B' } } },
      B: { Type: 'AWS::SSM::Parameter', Properties: { Name: { Ref: 'A' } } },
    };
    await expect(deploy({ Stack: { Resources } })).rejects.toThrow('refers to itself');
  });
});

test('an edit changes the templates before they are used', async () => {
  const assembly = await loadAssembly(await writeAssembly({ Data: DATA }), (templates) => {
    delete templates.Data?.Resources.Uploads;
  });
  expect(Object.keys(assembly.templates.Data?.Resources ?? {})).not.toContain('Uploads');
});

test('an asset is found by the bucket and key that it would be copied to', async () => {
  const deployment = await deploy({ Data: DATA });
  expect(deployment.assetPath('assets-111122223333-eu-west-1', 'code.zip')).toMatch(/\/code$/);
  expect(() => deployment.assetPath('assets-111122223333-eu-west-1', 'other.zip')).toThrow('no asset "other.zip"');
  expect(() => deployment.assetPath('elsewhere', 'code.zip')).toThrow('no asset "code.zip"');
});
