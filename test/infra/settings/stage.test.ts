import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { newApp } from '../../../infra/new-app.ts';
import { readStage, type StageSettings } from '../../../infra/settings/stage.ts';
import { STAGES, stageOf } from '../../../infra/stages/stages.ts';
import type { Template, TemplateResource } from '../../../local-aws/service.ts';
import { DELETED_BYTES_KEPT_DAYS } from '../../../shared/contract/limits.ts';
import { distributionOf, resourcesOf, synthesizeStage, templatesOf } from '../../support/synthesize-stage.ts';

/** The checks of a stage's settings, and the templates that result from them. */

type Statement = Record<'Effect' | 'Action' | 'Resource', unknown>;

const statementsOf = ({ Properties = {} }: TemplateResource): Statement[] =>
  (Properties.PolicyDocument as { Statement: Statement[] }).Statement;

/** The value of the SSM parameter of that name. */
const parameterOf = (template: Template | undefined, name: string): unknown =>
  resourcesOf(template, 'AWS::SSM::Parameter').find(({ Properties }) => Properties?.Name === name)?.Properties?.Value;

const certificate = (id: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${id}`;
const WEB_ACL = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/files/1';

const production = await templatesOf('prod');
/** A stage with most optional settings. */
const templates = await templatesOf('prod', {
  account: '123456789012',
  appDomain: { name: 'files.example.com', certificateArn: certificate('app') },
  cdnDomain: { name: 'cdn.example.net', certificateArn: certificate('cdn') },
  firewall: { webAclArn: WEB_ACL },
  limits: { MAX_UPLOAD_SIZE_BYTES: 5_000 * 2 ** 20 },
  whoMayLogIn: { domains: ['example.com', 'example.org'], emails: ['a@example.net'] },
  priceClass: '100',
  originSecretSlot: 'b',
  alarmEmails: { page: ['night@example.com'], ticket: ['ops@example.com'] },
  monthlyBudgetUsd: 100,
  streaming: { environments: 200 },
});

describe('a stage with most optional settings', () => {
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

  test('uses the custom domains in its outputs and variables', () => {
    const { Outputs } = templates.Edge as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Outputs.BaseUrl?.Value).toBe('https://files.example.com/api/v1');
    expect(Outputs.CdnUrl?.Value).toEqual({ Ref: 'SharedCdnUrl' });
    expect(Outputs.LoginRedirectUri?.Value).toBe('https://files.example.com/api/v1/auth/google/callback');
    const variables = JSON.stringify(resourcesOf(templates.Api, 'AWS::Lambda::Function'));
    expect(variables).toContain('"CDN_URL":{"Ref":"SharedCdnUrl"}');
    expect(parameterOf(templates.Data, '/file-hosting/prod/shared/CdnUrl')).toBe('https://cdn.example.net');
  });

  test("also gives the operator's commands the address of older links", () => {
    const operator = parameterOf(templates.Data, '/file-hosting/prod/operator');
    const [distribution] = Object.entries(templates.Data?.Resources ?? {}).flatMap(([id, { Type }]) =>
      Type === 'AWS::CloudFront::Distribution' ? [id] : [],
    );
    const value = JSON.stringify(operator);
    expect(value).toContain('\\"CDN_URL\\":\\"https://cdn.example.net\\"');
    expect(value).toContain(`\\"CDN_DISTRIBUTION_URL\\":\\"https://",{"Fn::GetAtt":["${distribution}","DomainName"]},`);
  });

  test('sends the origin secret of the given slot', () => {
    const origins = JSON.stringify(distributionOf(templates.Edge)?.Origins);
    // The gateway also gets this secret, as its API key.
    expect(origins.match(/SecretString:(\w+)::/g)).toEqual(Array(3).fill('SecretString:b::'));
    const [key] = resourcesOf(templates.Edge, 'AWS::ApiGateway::ApiKey');
    expect(JSON.stringify(key?.Properties?.Value)).toContain('SecretString:b::');
  });

  test.each(['Operations', 'EdgeAlarms'])(
    'subscribes the given e-mail addresses to the topics Pages and Tickets of the stack %s',
    (stack) => {
      const subscriptions = resourcesOf(templates[stack], 'AWS::SNS::Subscription').map(({ Properties }) => Properties);
      expect(subscriptions).toEqual([
        {
          Protocol: 'email',
          Endpoint: 'night@example.com',
          TopicArn: { Ref: expect.stringMatching(/^Pages/) },
        },
        {
          Protocol: 'email',
          Endpoint: 'ops@example.com',
          TopicArn: { Ref: expect.stringMatching(/^Tickets/) },
        },
      ]);
    },
  );

  test('keeps bytes that arrived directly for the longest ticket, which here lasts for 89 hours, and a day', () => {
    const cycles = resourcesOf(templates.Data, 'AWS::S3::Bucket').map(
      ({ Properties }) => Properties?.LifecycleConfiguration,
    );
    const incoming = expect.objectContaining({ Prefix: 'incoming/', ExpirationInDays: 5 });
    expect(cycles).toContainEqual({ Rules: expect.arrayContaining([incoming]) });
  });

  test('tells the function that finishes a login, and no other, who may log in', () => {
    const lists = resourcesOf(templates.Api, 'AWS::Lambda::Function').flatMap(({ Properties = {} }) => {
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
      return Variables.LOGIN_CLIENT_SECRET ? [[Variables.ALLOWED_EMAIL_DOMAINS, Variables.ALLOWED_EMAILS]] : [];
    });
    expect(lists).toEqual([['example.com,example.org', 'a@example.net']]);
  });

  test('has a budget that tells the given addresses of costs and of forecasts', () => {
    const [budget] = resourcesOf(templates.EdgeAlarms, 'AWS::Budgets::Budget').map(({ Properties = {} }) => Properties);
    expect(budget?.Budget).toMatchObject({ BudgetLimit: { Amount: 100, Unit: 'USD' }, TimeUnit: 'MONTHLY' });
    const notifications = budget?.NotificationsWithSubscribers as {
      Notification: { NotificationType: string };
      Subscribers: { Address: string }[];
    }[];
    expect(notifications.map(({ Notification }) => Notification.NotificationType)).toEqual(['ACTUAL', 'FORECASTED']);
    for (const { Subscribers } of notifications) {
      expect(Subscribers.map(({ Address }) => Address)).toEqual(['ops@example.com']);
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
  const references = [`"${uploadsId}"`, '"SharedUploadsBucket"'];
  const reaching = ['AWS::IAM::Policy', 'AWS::S3::BucketPolicy'].flatMap((type) =>
    Object.values(production)
      .flatMap((template) => resourcesOf(template, type))
      .flatMap(statementsOf)
      .filter(
        ({ Effect, Resource }) =>
          Effect === 'Allow' && references.some((reference) => JSON.stringify(Resource).includes(reference)),
      ),
  );
  const actions = reaching.flatMap(({ Action }) => Action as string | string[]);
  expect(actions).toContain('s3:GetObject');
  expect(actions).toContain('s3:DeleteObject');
  expect(actions.filter((action) => /Version|\*/.test(action))).toEqual([]);
});

test('a deleted stage dev leaves only what the logs of other gateways need, and without streaming uploads there is no streaming stack', async () => {
  const templates = await templatesOf('dev', { streaming: 'off', reservesConcurrency: false });
  expect(Object.keys(templates).sort()).toEqual(['Api', 'Data', 'Edge', 'EdgeAlarms', 'Operations']);
  expect(JSON.stringify(templates.Operations)).not.toContain('StreamingFailures"');
  expect(JSON.stringify(templates.Api)).not.toContain('ReservedConcurrentExecutions');
  const stateful = Object.values(templates).flatMap(({ Resources }) => Object.entries(Resources));
  const left = stateful.filter(([, { DeletionPolicy }]) => DeletionPolicy?.startsWith('Retain')).map(([id]) => id);
  // Gateways of other stages may use this role for their logs.
  expect(left).toEqual([expect.stringMatching(/^ApiCloudWatchRole/), expect.stringMatching(/^ApiAccount/)]);
  const [viewerRequest] = resourcesOf(templates.Edge, 'AWS::CloudFront::Function');
  expect(viewerRequest?.Properties?.FunctionCode).toContain('const STREAMING_UPLOADS=false;');
  expect(distributionOf(templates.Data)).not.toHaveProperty('Aliases');
  expect(distributionOf(templates.Data)).toHaveProperty('PriceClass', 'PriceClass_All');
});

test('several sweepers run every minute, and each is told its part of the shards', async () => {
  const { Api } = await templatesOf('dev', { sweepers: 7 });
  const rules = resourcesOf(Api, 'AWS::Events::Rule').filter(({ Properties }) => Properties?.ScheduleExpression);
  const inputs = rules.flatMap(({ Properties }) =>
    ((Properties?.Targets ?? []) as { Input: string }[]).map(({ Input }) => JSON.parse(Input)),
  );
  expect(inputs).toEqual(Array.from({ length: 7 }, (_, sweeper) => ({ sweeper, sweepers: 7 })));
  expect(
    resourcesOf(Api, 'AWS::Lambda::Function').map(({ Properties }) => Properties?.ReservedConcurrentExecutions),
  ).toContain(14);
});

test('a deployment goes to the Region and the account of the file, and to us-east-1 for what belongs to CloudFront', async () => {
  const { directory, remove } = await synthesizeStage('prod', { region: 'eu-west-1', account: '123456789012' });
  const { artifacts } = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8')) as {
    artifacts: Record<string, { type: string; environment?: string }>;
  };
  await remove();
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const places = Object.fromEntries(stacks.map(([name, { environment }]) => [name.split('-')[2], environment]));
  const [home, edge] = ['aws://123456789012/eu-west-1', 'aws://123456789012/us-east-1'];
  expect(places).toEqual({
    Data: home,
    Api: home,
    Streaming: home,
    Edge: home,
    Operations: home,
    Firewall: edge,
    EdgeAlarms: edge,
  });
});

test.each(['eu-central-1', 'us-east-1'])(
  'the alarms on CloudFront of a service in %s are in us-east-1',
  async (region) => {
    const { EdgeAlarms } = region === STAGES.prod.region ? production : await templatesOf('prod', { region });
    const parameters = JSON.stringify(resourcesOf(EdgeAlarms, 'AWS::SSM::Parameter'));
    const read = [...parameters.matchAll(/"StackName":"\w+-\w+-(\w+)","Region":"([^"]+)"/g)];
    expect(new Set(read.map(([, stack, from]) => `${stack} in ${from}`))).toEqual(
      new Set([`Edge in ${region}`, `Data in ${region}`]),
    );
  },
);

describe('an invalid setting is an error that names the file of the stage and the setting:', () => {
  const certificateArn = certificate('x');
  const elsewhere = certificateArn.replace('us-east-1', 'eu-west-1');
  const domain = 'must be a domain name in lower case, such as "example.com"';
  const email = 'must be one e-mail address, in ASCII';
  const acl = 'must be the ARN of a web ACL of scope CLOUDFRONT, in us-east-1';
  const people = 'whoMayLogIn must be "everyone" or an object with domains, emails';
  const contacts = ['mailto:a@example.com'];
  test.each<[sentence: string, Record<string, unknown>]>([
    ['streamingUploads is not a setting; there are region, account, ', { streamingUploads: false }],
    ['region must be a Region: only the stage local has none', { region: undefined }],
    ['region must be a Region, such as "eu-central-1", not "Frankfurt"', { region: 'Frankfurt' }],
    ['account must be a text of twelve digits, not "1234"', { account: '1234' }],
    ['keepsData must be true or false, not "yes"', { keepsData: 'yes' }],
    [`${people}, not undefined`, { whoMayLogIn: undefined }],
    [`${people}, not "anyone"`, { whoMayLogIn: 'anyone' }],
    ['whoMayLogIn.domain is not a setting; there are domains, emails', { whoMayLogIn: { domain: [] } }],
    ['whoMayLogIn.domains must be a list in brackets, not "a.org"', { whoMayLogIn: { domains: 'a.org' } }],
    [`whoMayLogIn.domains[0] ${domain}, not "\u212Aiosk.org"`, { whoMayLogIn: { domains: ['\u212Aiosk.org'] } }],
    [`whoMayLogIn.domains[0] ${domain}, not "@a.org"`, { whoMayLogIn: { domains: ['@a.org'] } }],
    [
      `whoMayLogIn.emails[1] ${email}, not "a@a.org,b@a.org"`,
      { whoMayLogIn: { emails: ['a@a.org', 'a@a.org,b@a.org'] } },
    ],
    [`whoMayLogIn.emails[0] ${email}, not "ü@a.org"`, { whoMayLogIn: { emails: ['ü@a.org'] } }],
    ['whoMayLogIn may have 2000 bytes', { whoMayLogIn: { emails: Array(200).fill('a@example.org') } }],
    [
      'limits.MAX_UPLOAD_BYTES is not a setting; there are MAX_UPLOAD_SIZE_BYTES, ',
      { limits: { MAX_UPLOAD_BYTES: 1 } },
    ],
    ['limits.FILE_COUNT_LIMIT must be a whole number from 1 to 5000000, not 0', { limits: { FILE_COUNT_LIMIT: 0 } }],
    [
      'limits.FILE_COUNT_LIMIT must be a whole number from 1 to 5000000, not 1.5',
      { limits: { FILE_COUNT_LIMIT: 1.5 } },
    ],
    [`alarmEmails.ticket[0] ${email}, not "nobody"`, { alarmEmails: { ticket: ['nobody'] } }],
    ['monthlyBudgetUsd must be a whole number from 1 to 1000000, not 0', { monthlyBudgetUsd: 0 }],
    ['monthlyBudgetUsd needs 1 to 10 alarmEmails.ticket', { monthlyBudgetUsd: 100 }],
    ['priceClass must be "all" or "200" or "100", not "300"', { priceClass: '300' }],
    ['originSecretSlot must be "a" or "b", not "c"', { originSecretSlot: 'c' }],
    ['sweepers must be a whole number from 1 to 128, not 129', { sweepers: 129 }],
    ['reservesConcurrency must be true or false, not 0', { reservesConcurrency: 0 }],
    [
      'appDomain.certificateArn must be the ARN of an ACM certificate in us-east-1, not undefined',
      { appDomain: { name: 'a.org' } },
    ],
    [
      `appDomain.certificateArn must be the ARN of an ACM certificate in us-east-1, not "${elsewhere}"`,
      { appDomain: { name: 'a.org', certificateArn: elsewhere } },
    ],
    [`cdnDomain.name ${domain}, not "https://a.org"`, { cdnDomain: { name: 'https://a.org', certificateArn } }],
    [
      'cdnDomain.name must be another name than that of appDomain',
      { appDomain: { name: 'a.org', certificateArn }, cdnDomain: { name: 'a.org', certificateArn } },
    ],
    ['streaming must be "off" or an object with environments, not undefined', { streaming: undefined }],
    ['streaming.environments must be a whole number from 2 to 10000, not 1', { streaming: { environments: 1 } }],
    [
      'firewall must be "off" or an object with requests and downloads, or with webAclArn, not undefined',
      { firewall: undefined },
    ],
    [
      'firewall.requests must be a whole number from 10 to 2000000000, not 9',
      { firewall: { requests: 9, downloads: 10 } },
    ],
    ['firewall.downloads must be a whole number from 10 to 2000000000, not undefined', { firewall: { requests: 10 } }],
    [`firewall.webAclArn ${acl}, not "acl"`, { firewall: { webAclArn: 'acl' } }],
    ['firewall.requests is not a setting; there are webAclArn', { firewall: { webAclArn: WEB_ACL, requests: 10 } }],
    [
      'restoredTables.files must be the name of a table that begins with "FileHosting-prod-", not "FileHosting-dev-1"',
      { restoredTables: { files: 'FileHosting-dev-1' } },
    ],
    [
      'restoredTables must name another table for each of ours',
      { restoredTables: { files: 'FileHosting-prod-1', accounts: 'FileHosting-prod-1' } },
    ],
    ['restoredTables.file is not a setting; there are ', { restoredTables: { file: 'FileHosting-prod-1' } }],
    [
      'secondCopy.region must be another Region than that of the stage',
      { secondCopy: { region: STAGES.prod.region, keepDays: 7 } },
    ],
    [
      'secondCopy.keepDays must be a whole number from 7 to 35, not 36',
      { secondCopy: { region: 'eu-west-1', keepDays: 36 } },
    ],
    [
      'securityContact.contacts[0] must be an address that begins with mailto: or https://, not "a@example.com"',
      { securityContact: { contacts: ['a@example.com'] } },
    ],
    [
      'securityContact.contacts[0] must be an address that begins with mailto: or https://, not "mailto:a@b.org\\nContact: ',
      { securityContact: { contacts: ['mailto:a@b.org\nContact: mailto:b@b.org'] } },
    ],
    ['securityContact.contacts must have at least one address', { securityContact: { contacts: [] } }],
    [
      'securityContact.policy must be an address that begins with https://, not "http://a.org"',
      { securityContact: { contacts, policy: 'http://a.org' } },
    ],
    [
      'securityContact.languages[0] must be the tag of a language, such as "en", not "English"',
      { securityContact: { contacts, languages: ['English'] } },
    ],
    ['securityContact.languages must have at least one language', { securityContact: { contacts, languages: [] } }],
  ])('%s', (sentence, changes) => {
    const read = () => readStage('prod', { ...STAGES.prod, ...changes } as StageSettings);
    expect(read).toThrow(`infra/stages/prod.ts: ${sentence}`);
  });
});

describe('a stage is read from its file, and not from the environment:', () => {
  test.each<[string, Record<string, string>, string]>([
    ['an empty stage', { STAGE: '' }, 'no stage is named'],
    [
      'a limit in the environment of an AWS stage',
      { STAGE: 'prod', MAX_UPLOAD_SIZE_BYTES: '1' },
      'the environment has MAX_UPLOAD_SIZE_BYTES, but the settings of this stage are in infra/stages/prod.ts',
    ],
    [
      'another Region than that of the stage',
      { STAGE: 'prod', AWS_REGION: 'eu-west-3' },
      `AWS_REGION is eu-west-3, but the stage prod is in ${STAGES.prod.region} (infra/stages/prod.ts)`,
    ],
    [
      'a list of people in the environment of the stage local',
      { STAGE: 'local', ALLOWED_EMAILS: 'a@example.org' },
      'the environment has ALLOWED_EMAILS, which is not a limit of this service',
    ],
    [
      'a list of people under a name in lower case',
      { STAGE: 'local', allowed_emails: 'a@example.org' },
      'the environment has allowed_emails, which is not',
    ],
  ])('%s is an error', (_name, environment, sentence) => {
    expect(() => stageOf(environment)).toThrow(sentence);
  });

  test('credentials, the Region of the stage and other variables are no errors', () => {
    const environment = { AWS_PROFILE: 'ops', AWS_REGION: String(STAGES.prod.region), ALLOWED_HOSTS: '*' };
    expect(stageOf({ STAGE: 'prod', ...environment })).toEqual(readStage('prod', STAGES.prod));
  });

  test('only the stage local takes its limits from the environment', () => {
    const { limits } = stageOf({ STAGE: 'local', RATE_LIMIT_LISTS_PER_MINUTE: '7', FILE_COUNT_LIMIT: '' });
    expect(limits).toEqual({ ...readStage('local', STAGES.local).limits, RATE_LIMIT_LISTS_PER_MINUTE: 7 });
  });

  const IN_MEMORY = { CDK_OUTDIR: 'cdk.out', CDK_VALIDATION: 'false' };

  test.each<[string, { context?: object; call?: string }]>([
    ['of the CDK', { context: { stage: 'dev' } }],
    ['in the call of npm', { call: 'stage=dev' }],
  ])('a context %s is an error', async (_name, given) => {
    vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify(given.context ?? {}));
    const made = newApp({ ...IN_MEMORY, ...(given.call !== undefined && { npm_config_call: given.call }) });
    await expect(made).rejects.toThrow('has no effect: the settings of a stage are in its file in infra/stages');
    vi.unstubAllEnvs();
  });

  test("the CDK's own context is no error", async () => {
    const ofCdk = { 'cli-telemetry': false, 'acknowledged-issue-numbers': [16603], '@aws-cdk/core:x': true };
    vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify(ofCdk));
    await newApp(IN_MEMORY);
    vi.unstubAllEnvs();
  });
});

describe('a second copy', () => {
  let templates: Readonly<Record<string, Template>>;
  beforeAll(async () => {
    templates = await templatesOf('prod', { secondCopy: { region: 'eu-west-1', keepDays: 30 } });
  });

  test('is kept like all data, but nothing stays behind when its first deployment fails, not even what is protected from deletion', () => {
    const all = Object.values(templates).flatMap(({ Resources }) => Object.entries(Resources));
    const kept = all.filter(([, { DeletionPolicy }]) => DeletionPolicy?.startsWith('Retain'));
    const always = kept.filter(([, { DeletionPolicy }]) => DeletionPolicy === 'Retain').map(([id]) => id);
    // Other gateways may write their logs with this role as soon as it is set.
    expect(always).toEqual([expect.stringMatching(/^ApiCloudWatchRole/), expect.stringMatching(/^ApiAccount/)]);
    const isProtected = all.filter(([, { Properties }]) =>
      /"DeletionProtectionEnabled":true/.test(JSON.stringify(Properties)),
    );
    expect(isProtected).toHaveLength(7);
    for (const [id, { DependsOn }] of isProtected)
      expect([id, DependsOn]).toEqual([id, expect.arrayContaining([expect.stringMatching(/^CdnDistribution/)])]);
  });

  test('exists only if the file of the stage says so', () => {
    expect(Object.keys(production)).not.toEqual(expect.arrayContaining(['SecondCopy']));
    expect(JSON.stringify(production)).not.toContain('ReplicationConfiguration');
  });

  test('has all files, with their deletions, and keeps deleted bytes for some days', () => {
    const [copied] = resourcesOf(templates.SecondCopy, 'AWS::S3::Bucket');
    expect(copied).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        VersioningConfiguration: { Status: 'Enabled' },
        LifecycleConfiguration: { Rules: [{ NoncurrentVersionExpiration: { NoncurrentDays: 30 } }] },
      },
    });
    const [replication] = resourcesOf(templates.Data, 'AWS::S3::Bucket').flatMap(
      ({ Properties }) => Properties?.ReplicationConfiguration ?? [],
    );
    const [rule, ...others] = (replication as { Rules: Record<string, unknown>[] }).Rules;
    expect(others).toEqual([]);
    expect(rule).toMatchObject({
      Status: 'Enabled',
      Filter: { Prefix: 'uploads/' },
      DeleteMarkerReplication: { Status: 'Enabled' },
    });
    // The destination is the ARN of the bucket of the copy.
    const name = JSON.stringify(copied?.Properties?.BucketName).match(/filehosting-prod-copy-/g);
    expect([name, JSON.stringify(rule?.Destination).match(/filehosting-prod-copy-/g)]).toEqual([name, name]);
  });

  test('has daily backups, in two locked vaults, of the tables whose rows cannot be made again', () => {
    const vaults = [templates.Backup, templates.SecondCopy].flatMap((template) =>
      resourcesOf(template, 'AWS::Backup::BackupVault'),
    );
    const names = vaults.map(({ Properties }) => Properties?.BackupVaultName);
    expect(names).toEqual(['FileHosting-prod', 'FileHosting-prod-copy-eu-central-1']);
    for (const { DeletionPolicy, Properties } of vaults) {
      expect([DeletionPolicy, Properties?.LockConfiguration]).toEqual([
        'RetainExceptOnCreate',
        { MinRetentionDays: 30 },
      ]);
    }
    const [plan] = resourcesOf(templates.Backup, 'AWS::Backup::BackupPlan');
    expect(JSON.stringify(plan)).toContain(':backup-vault:FileHosting-prod-copy-eu-central-1');
    const [selection] = resourcesOf(templates.Backup, 'AWS::Backup::BackupSelection');
    const tables = JSON.stringify(selection).match(/(?<=:table\/",\{"Ref":"Shared)\w+(?=Table")/g);
    expect(tables).toEqual(['Accounts', 'Files', 'ApiKeys']);
  });
});

describe('who may log in', () => {
  test.each<[string, StageSettings['whoMayLogIn'], unknown]>([
    ['nobody, with an object without lists', {}, undefined],
    ['nobody, with empty lists', { domains: [], emails: [] }, undefined],
    ['everyone', 'everyone', 'everyone'],
  ])('%s', (_name, whoMayLogIn, emails) => {
    const { allowLists } = readStage('dev', { ...STAGES.dev, whoMayLogIn });
    expect(allowLists).toEqual({ ALLOWED_EMAIL_DOMAINS: undefined, ALLOWED_EMAILS: emails });
  });

  test('has empty lists in the files of the AWS stages, until an operator adds people', () => {
    for (const { whoMayLogIn } of [STAGES.prod, STAGES.dev]) expect(whoMayLogIn).toEqual({ domains: [], emails: [] });
  });
});

describe('the bytes that an account may send in a day', () => {
  const limitsOf = (environment: Record<string, string>) => stageOf({ STAGE: 'local', ...environment }).limits;

  test('are always as many times the storage limit, unless they are set', () => {
    const { UPLOAD_BYTES_PER_DAY, STORAGE_LIMIT_BYTES } = limitsOf({});
    const times = UPLOAD_BYTES_PER_DAY / STORAGE_LIMIT_BYTES;
    expect(times).toBeGreaterThan(1);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '1000' }).UPLOAD_BYTES_PER_DAY).toBe(times * 1_000);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: '0' }).UPLOAD_BYTES_PER_DAY).toBe(0);
    const set = { STORAGE_LIMIT_BYTES: '1000', UPLOAD_BYTES_PER_DAY: '200000000' };
    expect(limitsOf(set).UPLOAD_BYTES_PER_DAY).toBe(200_000_000);
  });

  test('stay a safe integer, however large the storage limit is', () => {
    const largest = String(Number.MAX_SAFE_INTEGER);
    expect(limitsOf({ STORAGE_LIMIT_BYTES: largest }).UPLOAD_BYTES_PER_DAY).toBe(Number.MAX_SAFE_INTEGER);
  });
});
