import { App } from 'aws-cdk-lib';
import { beforeAll, describe, expect, test } from 'vitest';
import { readOperatorVariables } from '../../../infra/settings/operator-variables.ts';
import { existingTableKey, readStageConfig } from '../../../infra/settings/stage.ts';
import type { Template, TemplateResource } from '../../../local-aws/service.ts';
import { TABLES, type TableName } from '../../../shared/aws/tables.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/limits.ts';
import { distributionOf, resourcesOf, synthesizeStage, templatesOf } from '../../support/synthesize-stage.ts';

/** What an operator chooses by context (`-c name=value`), in the templates that come of it. */

type Statement = Record<'Effect' | 'Action' | 'Resource', unknown>;

const statementsOf = ({ Properties = {} }: TemplateResource): Statement[] =>
  (Properties.PolicyDocument as { Statement: Statement[] }).Statement;

let production: Record<string, Template>;
beforeAll(async () => {
  production = await templatesOf({ stage: 'prod' });
});

describe('a stage that has everything', () => {
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

  test('runs as many environments of the streaming function as it may', () => {
    const [endpoint] = resourcesOf(templates.Streaming, 'AWS::Lambda::WebFunctionEndpoint');
    expect(endpoint?.Properties?.ScalingConfig).toEqual({ MaxEnvironments: 200 });
  });

  test.each([
    ['Edge', 'files.example.com', 'app'],
    ['Data', 'cdn.example.net', 'cdn'],
  ])('serves %s under its own name, over TLS 1.2 at least', (stack, name, id) => {
    expect(distributionOf(templates[stack])).toMatchObject({
      Aliases: [name],
      ViewerCertificate: { AcmCertificateArn: certificate(id), MinimumProtocolVersion: 'TLSv1.2_2021' },
      HttpVersion: 'http2and3',
      PriceClass: 'PriceClass_100',
      WebACLId: WEB_ACL,
    });
  });

  test('takes no value of another stack by an export, which could never be changed while it is used', () => {
    expect(Object.keys(templates)).toContain('Streaming');
    expect(JSON.stringify(templates)).not.toMatch(/"Export"|Fn::ImportValue/);
  });

  test('gives its own names as addresses', () => {
    const { Outputs } = templates.Edge as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Outputs.BaseUrl?.Value).toBe('https://files.example.com/api/v1');
    expect(Outputs.CdnUrl?.Value).toBe('https://cdn.example.net');
    expect(Outputs.LoginRedirectUri?.Value).toBe('https://files.example.com/api/v1/auth/google/callback');
    const variables = JSON.stringify(resourcesOf(templates.Api, 'AWS::Lambda::Function'));
    expect(variables).toContain('"CDN_URL":"https://cdn.example.net"');
  });

  test('tells the operator the address of links that were handed out before, too', () => {
    const [operator] = resourcesOf(templates.Data, 'AWS::SSM::Parameter').map(({ Properties }) => Properties);
    const [distribution] = Object.entries(templates.Data?.Resources ?? {}).flatMap(([id, { Type }]) =>
      Type === 'AWS::CloudFront::Distribution' ? [id] : [],
    );
    const value = JSON.stringify(operator?.Value);
    expect(value).toContain('\\"CDN_URL\\":\\"https://cdn.example.net\\"');
    expect(value).toContain(`\\"CDN_DISTRIBUTION_URL\\":\\"https://",{"Fn::GetAtt":["${distribution}","DomainName"]},`);
  });

  test('sends the origin secret in the slot that was named', () => {
    const origins = JSON.stringify(distributionOf(templates.Edge)?.Origins);
    // To the gateway as its key, too.
    expect(origins.match(/SecretString:(\w+)::/g)).toEqual(Array(3).fill('SecretString:b::'));
    const [key] = resourcesOf(templates.Edge, 'AWS::ApiGateway::ApiKey');
    expect(JSON.stringify(key?.Properties?.Value)).toContain('SecretString:b::');
  });

  test.each(['Operations', 'EdgeAlarms'])('tells one person of the alarms of %s', (stack) => {
    const told = resourcesOf(templates[stack], 'AWS::SNS::Subscription').map(({ Properties }) => Properties);
    expect(told).toEqual([expect.objectContaining({ Protocol: 'email', Endpoint: 'ops@example.com' })]);
  });

  test('keeps its data, whatever becomes of the stack', () => {
    const kept = ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'].flatMap((type) =>
      Object.entries(templates.Data?.Resources ?? {}).filter(([, { Type }]) => Type === type),
    );
    const lost = kept.filter(([, { DeletionPolicy }]) => DeletionPolicy !== 'Retain').map(([logicalId]) => logicalId);
    // It is filled by every deployment.
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

test('deleted bytes are kept for some days, and nobody but an operator can reach them', () => {
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
          ExpirationInDays: 1,
          NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        },
        { Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ],
    },
  });
  // Without a version in the request `s3:GetObject` and `s3:DeleteObject` are enough, and reach the latest one alone.
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

describe('a table that took the place of another', () => {
  const [STAND_IN, ORIGINAL] = ['FileHosting-prod-restored-files', /^FilesTable/];
  let [before, after]: Record<string, Template>[] = [{}, {}];
  beforeAll(async () => {
    [before, after] = [production, await templatesOf({ stage: 'prod', filesTable: STAND_IN })];
  });
  const textOf = (template: Template | undefined) => JSON.stringify(template);
  const grants = (template: Template | undefined) => resourcesOf(template, 'AWS::IAM::Policy').flatMap(statementsOf);

  test('leaves the stack, which keeps it: it is retained', () => {
    const made = (template: Template | undefined) =>
      Object.keys(template?.Resources ?? {}).filter((id) => /Table[0-9A-F]{8}$/.test(id));
    const [left, ...others] = made(before?.Data).filter((id) => !made(after?.Data).includes(id));
    expect([left, others]).toEqual([expect.stringMatching(ORIGINAL), []]);
    expect(before?.Data?.Resources[left ?? '']?.DeletionPolicy).toBe('Retain');
    expect(Object.values(after ?? {}).filter((template) => /FilesTable[0-9A-F]{8}/.test(textOf(template)))).toEqual([]);
  });

  test('is named where the other was: variables, alarms, dashboard, and what the operator finds', () => {
    const variables = (stack: 'Api' | 'Streaming') =>
      textOf(after?.[stack]).split(`"FILES_TABLE":"${STAND_IN}"`).length - 1;
    const formerly = (stack: 'Api' | 'Streaming') => textOf(before?.[stack]).split('"FILES_TABLE":{').length - 1;
    expect([variables('Api'), variables('Streaming')]).toEqual([formerly('Api'), formerly('Streaming')]);
    expect(variables('Api')).toBeGreaterThan(5);
    expect(textOf(after?.Data)).toContain(`\\"FILES_TABLE\\":\\"${STAND_IN}\\"`);
    const watched = (template: Template | undefined) => textOf(template).split('"TableName"').length;
    expect(watched(after?.Operations)).toBe(watched(before?.Operations));
    expect(textOf(after?.Operations)).toContain(`{"Name":"TableName","Value":"${STAND_IN}"}`);
    expect(textOf(after?.Operations)).toContain(`\\"TableName\\",\\"${STAND_IN}\\"`);
  });

  test('is granted to the same functions, with its indexes', () => {
    for (const stack of ['Api', 'Streaming']) {
      const actions = (template: Template | undefined) => grants(template).map(({ Action }) => Action);
      expect(actions(after?.[stack])).toEqual(actions(before?.[stack]));
    }
    const arns = grants(after?.Api).map(({ Resource }) => textOf(Resource as Template));
    for (const end of ['', '/index/by_seq', '/index/unfinished']) {
      expect(arns).toContainEqual(expect.stringContaining(`:table/${STAND_IN}${end}"`));
    }
  });

  test('can take any place, for no stack holds on to an export of another', () => {
    for (const template of [...Object.values(before ?? {}), ...Object.values(after ?? {})]) {
      expect(textOf(template)).not.toContain('Fn::ImportValue');
      expect(Object.values(template.Outputs ?? {}).filter(({ Export }) => Export)).toEqual([]);
    }
  });

  test('makes every stack that named the other one differ, so that none is left as it is', () => {
    const changed = Object.keys(after ?? {}).filter((stack) => textOf(after?.[stack]) !== textOf(before?.[stack]));
    const named = Object.keys(before ?? {}).filter((stack) => /FilesTable|FILESTABLE/.test(textOf(before?.[stack])));
    expect(changed.sort()).toEqual(named.sort());
    expect(named.sort()).toEqual(['Api', 'Data', 'Operations', 'Streaming']);
  });

  test('can be any of them', async () => {
    const all = Object.fromEntries(
      (Object.keys(TABLES) as TableName[]).map((name) => [existingTableKey(name), `FileHosting-prod-${name}-2`]),
    );
    const templates = await templatesOf({ stage: 'prod', ...all });
    expect(resourcesOf(templates.Data, 'AWS::DynamoDB::GlobalTable')).toEqual([]);
    for (const name of Object.values(all)) expect(textOf(templates.Api)).toContain(`:table/${name}"`);
  });
});

test('a stage for development can be destroyed whole, and one without streaming has no stack for it', async () => {
  const templates = await templatesOf({ stage: 'dev', streamingUploads: 'false', reserveConcurrency: 'false' });
  expect(Object.keys(templates).sort()).toEqual(['Api', 'Data', 'Edge', 'EdgeAlarms', 'Operations']);
  expect(JSON.stringify(templates.Operations)).not.toContain('StreamingFailures"');
  expect(JSON.stringify(templates.Api)).not.toContain('ReservedConcurrentExecutions');
  const stateful = Object.values(templates).flatMap(({ Resources }) => Object.entries(Resources));
  const left = stateful.filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain').map(([id]) => id);
  // By which the gateways of other stages may log meanwhile.
  expect(left).toEqual([expect.stringMatching(/^ApiCloudWatchRole/), expect.stringMatching(/^ApiAccount/)]);
  const [viewerRequest] = resourcesOf(templates.Edge, 'AWS::CloudFront::Function');
  expect(viewerRequest?.Properties?.FunctionCode).toContain('const STREAMING_UPLOADS=false;');
  expect(distributionOf(templates.Data)).not.toHaveProperty('Aliases');
  expect(distributionOf(templates.Data)).toHaveProperty('PriceClass', 'PriceClass_All');
});

test.each(['eu-central-1', 'us-east-1'])('a service in %s is watched from us-east-1', async (region) => {
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
  // All else can be deployed anywhere.
  for (const [name, { Resources }] of Object.entries(others)) {
    const text = JSON.stringify(Resources).replaceAll(/"region\\*":\\*"us-east-1/g, '');
    expect([name, text.includes(region)]).toEqual([name, false]);
  }
});

describe('a wrong choice is refused by its name', () => {
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

  test('also one that npm kept for itself, because -- was missing before it', () => {
    const read = () => readStageConfig(new App(), { npm_config_call: 'stage=dev' });
    expect(read).toThrow('as in "npm run deploy -- -c stage=dev"');
  });

  test("but for what is the CDK's own", () => {
    const ofCdk = { 'cli-telemetry': false, 'acknowledged-issue-numbers': [16603], '@aws-cdk/core:x': true };
    expect(readStageConfig(new App({ context: ofCdk }), {}).name).toBe('prod');
  });
});

describe('a variable that is nearly one of ours is refused', () => {
  test.each([
    'ALLOWED_EMAIL',
    'allowed_emails',
    'MAX_UPLOAD_BYTES',
    'RATE_LIMIT_UPLOADS',
    'STORAGE_LIMIT',
    'FILE_COUNT',
    'UPLOAD_BYTES_A_DAY',
  ])('%s', (name) => {
    const refusal = () => readOperatorVariables({ PATH: '/bin', ALLOWED_EMAILS: 'a@example.org', [name]: '1' });
    expect(refusal).toThrow(
      `the environment has ${name}, which is no variable of ours; those are MAX_UPLOAD_SIZE_BYTES, `,
    );
  });

  test('and those that are ours, or nobody knows, are not', () => {
    const environment = { ALLOWED_EMAIL_DOMAINS: '', RATE_LIMIT_LISTS_PER_MINUTE: '1', ALLOWED_HOSTS: '*' };
    expect(() => readOperatorVariables(environment)).not.toThrow();
  });

  test('before anything is synthesized', async () => {
    await expect(synthesizeStage({}, { ALLOWED_EMAIL: 'a@example.org' })).rejects.toThrow(
      'has ALLOWED_EMAIL, which is',
    );
  });
});

describe('the bytes that an account may send in a day', () => {
  const limitsOf = (environment: Record<string, string>) => readOperatorVariables(environment).limits;

  test('are 25 times the storage that is in force, unless they are set', () => {
    expect(limitsOf({}).UPLOAD_BYTES_PER_DAY).toBe(25 * 2_147_483_648);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '1000' }).UPLOAD_BYTES_PER_DAY).toBe(25_000);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '0' }).UPLOAD_BYTES_PER_DAY).toBe(0);
    const set = { STORAGE_LIMIT_BYTES: '1000', UPLOAD_BYTES_PER_DAY: '200000000' };
    expect(limitsOf(set).UPLOAD_BYTES_PER_DAY).toBe(200_000_000);
  });

  test('stay a number that can be counted, however large the storage is', () => {
    const largest = String(Number.MAX_SAFE_INTEGER);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: largest }).UPLOAD_BYTES_PER_DAY).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each([
    ['FILE_COUNT_LIMIT', '0', 'FILE_COUNT_LIMIT must be a whole number from 1 to 100000000, not "0"'],
    ['UPLOAD_BYTES_PER_DAY', '50GB', 'UPLOAD_BYTES_PER_DAY must be a whole number from 0 to '],
  ])('are, as the file count, a whole number: %s=%s', (name, value, sentence) => {
    expect(() => limitsOf({ [name]: value })).toThrow(sentence);
  });
});
