import { App } from 'aws-cdk-lib';
import { beforeAll, describe, expect, test } from 'vitest';
import { readOperatorVariables } from '../../../infra/settings/operator-variables.ts';
import { existingTableKey, readStageConfig } from '../../../infra/settings/stage.ts';
import type { Template, TemplateResource } from '../../../local-aws/service.ts';
import { TABLES, type TableName } from '../../../shared/aws/tables.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/limits.ts';
import { distributionOf, resourcesOf, synthesizeStage, templatesOf } from '../../support/synthesize-stage.ts';

/** The templates that result from an operator's context (`-c name=value`). */

type Statement = Record<'Effect' | 'Action' | 'Resource', unknown>;

const statementsOf = ({ Properties = {} }: TemplateResource): Statement[] =>
  (Properties.PolicyDocument as { Statement: Statement[] }).Statement;

let production: Record<string, Template>;
beforeAll(async () => {
  production = await templatesOf({ stage: 'prod' });
});

describe('a stage with all optional settings', () => {
  const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;
  const WEB_ACL = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/files/1';
  let templates: Record<string, Template>;
  beforeAll(async () => {
    templates = await templatesOf({
      stage: 'prod',
      appDomain: 'files.example.com',
      appCertificateArn: certificate('app'),
      cdnDomain: 'cdn.example.net',
      cdnCertificateArn: certificate('cdn'),
      webAclArn: WEB_ACL,
      priceClass: '100',
      originSecretSlot: 'b',
      alarmEmail: 'ops@example.com',
      streamingEnvironments: '200',
    });
  });

  test('has the given maximum of environments of the streaming function', () => {
    const [endpoint] = resourcesOf(templates.Streaming, 'AWS::Lambda::WebFunctionEndpoint');
    expect(endpoint?.Properties?.ScalingConfig).toEqual({ MaxEnvironments: 200 });
  });

  test.each([
    ['Edge', 'files.example.com', 'app'],
    ['Data', 'cdn.example.net', 'cdn'],
  ])('serves the distribution of the stack %s under its custom domain, with at least TLS 1.2', (stack, name, id) => {
    expect(distributionOf(templates[stack])).toMatchObject({
      Aliases: [name],
      ViewerCertificate: { AcmCertificateArn: certificate(id), MinimumProtocolVersion: 'TLSv1.2_2021' },
      HttpVersion: 'http2and3',
      PriceClass: 'PriceClass_100',
      WebACLId: WEB_ACL,
    });
  });

  test('uses no exports between stacks, which could not be changed while they are in use', () => {
    expect(Object.keys(templates)).toContain('Streaming');
    expect(JSON.stringify(templates)).not.toMatch(/"Export"|Fn::ImportValue/);
  });

  test('uses the custom domains in its outputs and variables', () => {
    const { Outputs } = templates.Edge as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Outputs.BaseUrl?.Value).toBe('https://files.example.com/api/v1');
    expect(Outputs.CdnUrl?.Value).toBe('https://cdn.example.net');
    expect(Outputs.LoginRedirectUri?.Value).toBe('https://files.example.com/api/v1/auth/google/callback');
    const variables = JSON.stringify(resourcesOf(templates.Api, 'AWS::Lambda::Function'));
    expect(variables).toContain('"CDN_URL":"https://cdn.example.net"');
  });

  test("also gives the operator's commands the address of older links", () => {
    const [operator] = resourcesOf(templates.Data, 'AWS::SSM::Parameter').map(({ Properties }) => Properties);
    const [distribution] = Object.entries(templates.Data?.Resources ?? {}).flatMap(([id, { Type }]) =>
      Type === 'AWS::CloudFront::Distribution' ? [id] : [],
    );
    const value = JSON.stringify(operator?.Value);
    expect(value).toContain('\\"CDN_URL\\":\\"https://cdn.example.net\\"');
    expect(value).toContain(`\\"CDN_DISTRIBUTION_URL\\":\\"https://",{"Fn::GetAtt":["${distribution}","DomainName"]},`);
  });

  test('sends the origin secret of the given slot', () => {
    const origins = JSON.stringify(distributionOf(templates.Edge)?.Origins);
    // The gateway also gets it as its key.
    expect(origins.match(/SecretString:(\w+)::/g)).toEqual(Array(3).fill('SecretString:b::'));
    const [key] = resourcesOf(templates.Edge, 'AWS::ApiGateway::ApiKey');
    expect(JSON.stringify(key?.Properties?.Value)).toContain('SecretString:b::');
  });

  test.each(['Operations', 'EdgeAlarms'])('subscribes the given e-mail address to the alarms of %s', (stack) => {
    const subscriptions = resourcesOf(templates[stack], 'AWS::SNS::Subscription').map(({ Properties }) => Properties);
    expect(subscriptions).toEqual([expect.objectContaining({ Protocol: 'email', Endpoint: 'ops@example.com' })]);
  });

  test('keeps its data when the stack is deleted', () => {
    const kept = ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'].flatMap((type) =>
      Object.entries(templates.Data?.Resources ?? {}).filter(([, { Type }]) => Type === type),
    );
    const lost = kept.filter(([, { DeletionPolicy }]) => DeletionPolicy !== 'Retain').map(([logicalId]) => logicalId);
    // Every deployment fills this bucket again.
    expect(lost).toEqual([expect.stringMatching(/^CdnErrorsBucket/)]);
    for (const { Properties } of resourcesOf(templates.Data, 'AWS::DynamoDB::GlobalTable')) {
      expect(Properties?.Replicas).toEqual([
        expect.objectContaining({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ]);
    }
  });
});

test('deleted bytes are kept for some days, and only an operator can reach them', () => {
  const [uploads, ...others] = resourcesOf(production.Data, 'AWS::S3::Bucket').filter(
    ({ Properties }) => Properties?.VersioningConfiguration,
  );
  expect(others).toEqual([]);
  expect(uploads?.Properties).toMatchObject({
    VersioningConfiguration: { Status: 'Enabled' },
    LifecycleConfiguration: {
      Rules: [
        {
          Status: 'Enabled',
          Prefix: 'uploads/',
          NoncurrentVersionExpiration: { NoncurrentDays: DELETED_BYTES_KEPT_DAYS },
          ExpiredObjectDeleteMarker: true,
        },
        {
          Status: 'Enabled',
          Prefix: 'incoming/',
          ExpirationInDays: 2,
          NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        },
        { Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ],
    },
  });
  // `s3:GetObject` and `s3:DeleteObject` reach only the latest version; older ones need actions with `Version`.
  const uploadsId = Object.entries(production.Data?.Resources ?? {}).find(([, resource]) => resource === uploads)?.[0];
  const reaching = ['AWS::IAM::Policy', 'AWS::S3::BucketPolicy'].flatMap((type) =>
    Object.values(production)
      .flatMap((template) => resourcesOf(template, type))
      .flatMap(statementsOf)
      .filter(({ Effect, Resource }) => Effect === 'Allow' && JSON.stringify(Resource).includes(String(uploadsId))),
  );
  const actions = reaching.flatMap(({ Action }) => Action as string | string[]);
  expect(actions).toContain('s3:GetObject');
  expect(actions).toContain('s3:DeleteObject');
  expect(actions.filter((action) => /Version|\*/.test(action))).toEqual([]);
});

test('bytes that arrived directly are kept for the longest ticket and a day', async () => {
  const { Data } = await templatesOf({ stage: 'dev' }, { MAX_UPLOAD_SIZE_BYTES: String(5_000 * 2 ** 20) });
  // A ticket of 5,000 MiB lasts for 89 hours.
  expect(
    resourcesOf(Data, 'AWS::S3::Bucket').map(({ Properties }) => Properties?.LifecycleConfiguration),
  ).toContainEqual({
    Rules: expect.arrayContaining([expect.objectContaining({ Prefix: 'incoming/', ExpirationInDays: 5 })]),
  });
});

describe('a restored table in place of the original one', () => {
  const [RESTORED, ORIGINAL] = ['FileHosting-prod-restored-files', /^FilesTable/];
  let [before, after]: Record<string, Template>[] = [{}, {}];
  beforeAll(async () => {
    [before, after] = [production, await templatesOf({ stage: 'prod', filesTable: RESTORED })];
  });
  const textOf = (template: Template | undefined) => JSON.stringify(template);
  const grants = (template: Template | undefined) => resourcesOf(template, 'AWS::IAM::Policy').flatMap(statementsOf);

  test('removes the original table from the stack, and its deletion policy is Retain', () => {
    const made = (template: Template | undefined) =>
      Object.keys(template?.Resources ?? {}).filter((id) => /Table[0-9A-F]{8}$/.test(id));
    const [left, ...others] = made(before?.Data).filter((id) => !made(after?.Data).includes(id));
    expect([left, others]).toEqual([expect.stringMatching(ORIGINAL), []]);
    expect(before?.Data?.Resources[left ?? '']?.DeletionPolicy).toBe('Retain');
    expect(Object.values(after ?? {}).filter((template) => /FilesTable[0-9A-F]{8}/.test(textOf(template)))).toEqual([]);
  });

  test("replaces the original one in variables, alarms, dashboard and the operator's parameter", () => {
    const variables = (stack: 'Api' | 'Streaming') =>
      textOf(after?.[stack]).split(`"FILES_TABLE":"${RESTORED}"`).length - 1;
    const formerly = (stack: 'Api' | 'Streaming') => textOf(before?.[stack]).split('"FILES_TABLE":{').length - 1;
    expect([variables('Api'), variables('Streaming')]).toEqual([formerly('Api'), formerly('Streaming')]);
    expect(variables('Api')).toBeGreaterThan(5);
    expect(textOf(after?.Data)).toContain(`\\"FILES_TABLE\\":\\"${RESTORED}\\"`);
    const watched = (template: Template | undefined) => textOf(template).split('"TableName"').length;
    expect(watched(after?.Operations)).toBe(watched(before?.Operations));
    expect(textOf(after?.Operations)).toContain(`{"Name":"TableName","Value":"${RESTORED}"}`);
    expect(textOf(after?.Operations)).toContain(`\\"TableName\\",\\"${RESTORED}\\"`);
  });

  test('is granted to the same functions, with its indexes', () => {
    for (const stack of ['Api', 'Streaming']) {
      const actions = (template: Template | undefined) => grants(template).map(({ Action }) => Action);
      expect(actions(after?.[stack])).toEqual(actions(before?.[stack]));
    }
    const arns = grants(after?.Api).map(({ Resource }) => textOf(Resource as Template));
    for (const end of ['', '/index/by_seq', '/index/unfinished']) {
      expect(arns).toContainEqual(expect.stringContaining(`:table/${RESTORED}${end}"`));
    }
  });

  test('can replace any table, because stacks use no exports of each other', () => {
    for (const template of [...Object.values(before ?? {}), ...Object.values(after ?? {})]) {
      expect(textOf(template)).not.toContain('Fn::ImportValue');
      expect(Object.values(template.Outputs ?? {}).filter(({ Export }) => Export)).toEqual([]);
    }
  });

  test('changes every stack that refers to the original one, and no other', () => {
    const changed = Object.keys(after ?? {}).filter((stack) => textOf(after?.[stack]) !== textOf(before?.[stack]));
    const named = Object.keys(before ?? {}).filter((stack) => /FilesTable|FILESTABLE/.test(textOf(before?.[stack])));
    expect(changed.sort()).toEqual(named.sort());
    expect(named.sort()).toEqual(['Api', 'Data', 'Operations', 'Streaming']);
  });

  test('can be given for every table', async () => {
    const all = Object.fromEntries(
      (Object.keys(TABLES) as TableName[]).map((name) => [existingTableKey(name), `FileHosting-prod-${name}-2`]),
    );
    const templates = await templatesOf({ stage: 'prod', ...all });
    expect(resourcesOf(templates.Data, 'AWS::DynamoDB::GlobalTable')).toEqual([]);
    for (const name of Object.values(all)) expect(textOf(templates.Api)).toContain(`:table/${name}"`);
  });
});

test('the stage dev can be deleted completely, and without streaming uploads there is no streaming stack', async () => {
  const templates = await templatesOf({ stage: 'dev', streamingUploads: 'false', reserveConcurrency: 'false' });
  expect(Object.keys(templates).sort()).toEqual(['Api', 'Data', 'Edge', 'EdgeAlarms', 'Operations']);
  expect(JSON.stringify(templates.Operations)).not.toContain('StreamingFailures"');
  expect(JSON.stringify(templates.Api)).not.toContain('ReservedConcurrentExecutions');
  const stateful = Object.values(templates).flatMap(({ Resources }) => Object.entries(Resources));
  const left = stateful.filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain').map(([id]) => id);
  // Gateways of other stages may use this role for their logs.
  expect(left).toEqual([expect.stringMatching(/^ApiCloudWatchRole/), expect.stringMatching(/^ApiAccount/)]);
  const [viewerRequest] = resourcesOf(templates.Edge, 'AWS::CloudFront::Function');
  expect(viewerRequest?.Properties?.FunctionCode).toContain('const STREAMING_UPLOADS=false;');
  expect(distributionOf(templates.Data)).not.toHaveProperty('Aliases');
  expect(distributionOf(templates.Data)).toHaveProperty('PriceClass', 'PriceClass_All');
});

test.each(['eu-central-1', 'us-east-1'])(
  'the alarms on CloudFront of a service in %s are in us-east-1',
  async (region) => {
    const { EdgeAlarms, ...others } = await templatesOf({}, region === undefined ? {} : { CDK_DEFAULT_REGION: region });
    const alarms = JSON.stringify(resourcesOf(EdgeAlarms, 'AWS::CloudWatch::Alarm'));
    expect(
      [...alarms.matchAll(/"StackName":"\w+-\w+-(\w+)","Region":"([^"]+)"/g)].map((found) => found.slice(1)),
    ).toEqual([
      ['Edge', region],
      ['Edge', region],
      ['Data', region],
      ['Data', region],
    ]);
    // No other resource depends on a Region.
    for (const [name, { Resources }] of Object.entries(others)) {
      const text = JSON.stringify(Resources).replaceAll(/"region\\*":\\*"us-east-1/g, '');
      expect([name, text.includes(region)]).toEqual([name, false]);
    }
  },
);

describe('an invalid context is an error that names it:', () => {
  test.each([
    [{ streamingUpload: 'false' }, 'there is no context "streamingUpload"; there are stage, streamingUploads, '],
    [{ 'reserve-concurrency': 'false' }, 'there is no context "reserve-concurrency"; there are '],
    [{ stage: 'test' }, 'context stage must be prod or dev, not "test"'],
    [{ streamingUploads: 'no' }, 'context streamingUploads must be true or false, not "no"'],
    [{ reserveConcurrency: '0' }, 'context reserveConcurrency must be true or false, not "0"'],
    [{ alarmEmail: 'nobody' }, 'context alarmEmail must match '],
    [{ priceClass: '300' }, 'context priceClass must be all or 200 or 100, not "300"'],
    [{ appDomain: 'files.example.com' }, 'context appDomain and appCertificateArn go together'],
    [{ filesTable: 'FileHosting-dev-files' }, 'context filesTable must match ^FileHosting-prod-'],
    [{ stage: 'dev', filesTable: 'FileHosting-prod-files' }, 'context filesTable must match ^FileHosting-dev-'],
    [{ cdnDomain: 'https://cdn.example.net' }, 'context cdnDomain must match '],
    [{ webAclArn: 'arn:aws:wafv2:eu-west-1:123456789012:global/webacl/x/1' }, 'context webAclArn must match '],
    [{ streamingEnvironments: '1' }, 'context streamingEnvironments must be a whole number from 2 to 10000, not "1"'],
    [{ streamingEnvironments: '10001' }, 'context streamingEnvironments must be a whole number from 2 to 10000'],
    [{ firewallRequestsPerFiveMinutes: '9' }, 'must be a whole number from 10 to 2000000000, not "9"'],
    [{ firewallRequestsPerFiveMinutes: '2000000001' }, 'must be a whole number from 10 to 2000000000'],
    [{ firewallRequestsPerFiveMinutes: '1e3' }, 'context firewallRequestsPerFiveMinutes must be a whole number'],
    [
      {
        firewallRequestsPerFiveMinutes: '10',
        webAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/x/1',
      },
      'context webAclArn and firewallRequestsPerFiveMinutes exclude each other',
    ],
    [
      { appDomain: 'a.example.com', appCertificateArn: 'arn:aws:acm:eu-west-1:123456789012:certificate/x' },
      'context appCertificateArn must match ',
    ],
  ])('%j', (context, sentence) => {
    expect(() => readStageConfig(new App({ context }), {})).toThrow(sentence);
  });

  test('a context that npm took for its own option, because -- was missing', () => {
    const read = () => readStageConfig(new App(), { npm_config_call: 'stage=dev' });
    expect(read).toThrow('as in "npm run deploy -- -c stage=dev"');
  });

  test("the CDK's own context is not an error", () => {
    const ofCdk = { 'cli-telemetry': false, 'acknowledged-issue-numbers': [16603], '@aws-cdk/core:x': true };
    expect(readStageConfig(new App({ context: ofCdk }), {}).name).toBe('prod');
  });
});

describe('a variable that looks like a misspelt one is an error:', () => {
  test.each([
    'ALLOWED_EMAIL',
    'allowed_emails',
    'MAX_UPLOAD_BYTES',
    'RATE_LIMIT_UPLOADS',
    'STORAGE_LIMIT',
    'FILE_COUNT',
    'UPLOAD_BYTES_A_DAY',
  ])('%s', (name) => {
    const readVariables = () => readOperatorVariables({ PATH: '/bin', ALLOWED_EMAILS: 'a@example.org', [name]: '1' });
    expect(readVariables).toThrow(
      `the environment has ${name}, which is not a variable of this service; those are MAX_UPLOAD_SIZE_BYTES, `,
    );
  });

  test('correct and unrelated variables are not errors', () => {
    const environment = { ALLOWED_EMAIL_DOMAINS: '', RATE_LIMIT_LISTS_PER_MINUTE: '1', ALLOWED_HOSTS: '*' };
    expect(() => readOperatorVariables(environment)).not.toThrow();
  });

  test('the synthesis fails with it', async () => {
    await expect(synthesizeStage({}, { ALLOWED_EMAIL: 'a@example.org' })).rejects.toThrow(
      'has ALLOWED_EMAIL, which is',
    );
  });
});

describe('the bytes that an account may send in a day', () => {
  const limitsOf = (environment: Record<string, string>) => readOperatorVariables(environment).limits;

  test('are 25 times the storage limit, unless they are set', () => {
    expect(limitsOf({}).UPLOAD_BYTES_PER_DAY).toBe(25 * 2_147_483_648);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '1000' }).UPLOAD_BYTES_PER_DAY).toBe(25_000);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '0' }).UPLOAD_BYTES_PER_DAY).toBe(0);
    const set = { STORAGE_LIMIT_BYTES: '1000', UPLOAD_BYTES_PER_DAY: '200000000' };
    expect(limitsOf(set).UPLOAD_BYTES_PER_DAY).toBe(200_000_000);
  });

  test('stay a safe integer, however large the storage limit is', () => {
    const largest = String(Number.MAX_SAFE_INTEGER);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: largest }).UPLOAD_BYTES_PER_DAY).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each([
    ['FILE_COUNT_LIMIT', '0', 'FILE_COUNT_LIMIT must be a whole number from 1 to 100000000, not "0"'],
    ['UPLOAD_BYTES_PER_DAY', '50GB', 'UPLOAD_BYTES_PER_DAY must be a whole number from 0 to '],
  ])('must be a whole number, like the file count: %s=%s is an error', (name, value, sentence) => {
    expect(() => limitsOf({ [name]: value })).toThrow(sentence);
  });
});
