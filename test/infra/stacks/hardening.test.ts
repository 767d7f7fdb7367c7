import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { ROUTES } from '../../../functions/routes.ts';
import { prod } from '../../../infra/stages/prod.ts';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { CONFIGURABLE_LIMITS } from '../../../shared/contract/limits.ts';
import { methodsOf } from '../../../shared/contract/route.ts';
import { VARIABLES } from '../../../shared/env.ts';
import { synthesizeStage } from '../../support/synthesize-stage.ts';

/** Security properties of every template of the stages local, local without streaming uploads, and prod. */

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | string[];
  readonly Resource?: unknown;
  readonly Principal?: unknown;
  readonly Condition?: unknown;
}

interface Found {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties of many types, as the template has them
  readonly properties: any;
  readonly deletionPolicy: string | undefined;
}

/** CDK's own functions and roles, which fill and empty buckets. */
const HELPER = /^Custom/;

/**
 * The grants with a wildcard, each with its reason. All belong to CDK's own helpers, which run only during a deployment. Each grant is
 * limited to the buckets that its helper fills or empties. Our own functions have no grant with a wildcard.
 */
const WILDCARDS: readonly [holder: RegExp, actions: RegExp][] = [
  // Fills a static bucket from the bucket of CDK's assets.
  [/^CustomCDKBucketDeployment/, /^s3:(GetBucket|GetObject|List|DeleteObject|Abort)\*$/],
  // Copies the code of the streaming server into the bucket that Lambda reads it from.
  [/^CustomS3ObjectCopy/, /^s3:(Abort|DeleteObject)\*$/],
  // Empties the bucket of that code when its stack is deleted. In the stage dev it also empties the bucket of files.
  [/^(AWSCDKWebFunctionAssetBucket|Uploads)Policy/, /^s3:(DeleteObject|GetBucket|List)\*$/],
];

/**
 * The roles whose trust has no condition on `aws:SourceAccount`. A service that does not send it could not assume the role any more, and
 * nothing would tell. AWS documents these roles without a condition.
 */
const WITHOUT_SOURCE_ACCOUNT: readonly RegExp[] = [
  // The documents of Web Functions do not say what Lambda sends when it assumes their role.
  /^Streaming Role\w+ lambda\.amazonaws\.com$/,
  // AWS::ApiGateway::Account: one role for all gateways of the account.
  /^Api ApiCloudWatchRole\w+ apigateway\.amazonaws\.com$/,
  // S3 User Guide, "Setting up permissions for live replication"; Backup Developer Guide, "IAM service roles".
  /^Data UploadsReplicationRole\w+ s3\.amazonaws\.com$/,
  /^Backup Role\w+ backup\.amazonaws\.com$/,
  // CDK's own helpers have no option for it. They run only during a deployment.
  /^\w+ (Custom|AWSCDKWebFunctionAsset)\w+ lambda\.amazonaws\.com$/,
];

const inlineOnly = await synthesizeStage('local', { streaming: 'off' });
const production = await synthesizeStage('prod');
afterAll(() => Promise.all([inlineOnly.remove(), production.remove()]));

const STAGES: readonly [string, () => string][] = [
  ['local', () => inject('assembly')],
  ['local without streaming', () => inlineOnly.directory],
  ['prod', () => production.directory],
];

async function resourcesOf(assembly: string, ...types: string[]): Promise<Found[]> {
  const { templates } = await loadAssembly(assembly);
  const found = Object.entries(templates).flatMap(([stack, { Resources }]) =>
    Object.entries(Resources).map(([logicalId, { Type, Properties = {}, DeletionPolicy }]) => ({
      stack,
      logicalId,
      type: Type,
      properties: Properties,
      deletionPolicy: DeletionPolicy,
    })),
  );
  return found.filter(({ type }) => types.includes(type));
}

/** Every statement of every policy, with the logical id of the policy or role. */
async function statementsOf(assembly: string): Promise<[holder: string, Statement][]> {
  const policies = await resourcesOf(
    assembly,
    'AWS::IAM::Policy',
    'AWS::IAM::Role',
    'AWS::S3::BucketPolicy',
    'AWS::SQS::QueuePolicy',
    'AWS::SNS::TopicPolicy',
  );
  return policies.flatMap(({ logicalId, properties: { PolicyDocument, Policies = [] } }) =>
    [PolicyDocument, ...Policies.map((policy: { PolicyDocument: unknown }) => policy.PolicyDocument)].flatMap(
      (document) => (document?.Statement ?? []).map((statement: Statement) => [logicalId, statement]),
    ),
  );
}

describe.each(STAGES)('in the stage %s', (stage, assembly) => {
  test('a program learns that it sends its key in clear, a page is redirected to HTTPS, and there is no IPv6', async () => {
    const distributions = await resourcesOf(assembly(), 'AWS::CloudFront::Distribution');
    const policies = distributions.flatMap(({ properties: { DistributionConfig: config } }) => [
      ['*', config.DefaultCacheBehavior.ViewerProtocolPolicy],
      ...(config.CacheBehaviors ?? []).map(({ PathPattern, ViewerProtocolPolicy }: Record<string, string>) => [
        PathPattern,
        ViewerProtocolPolicy,
      ]),
    ]);
    expect(policies.filter(([, policy]) => policy !== 'redirect-to-https')).toEqual([['api/*', 'https-only']]);
    for (const { properties } of distributions) expect(properties.DistributionConfig.IPV6Enabled).toBe(false);
  });

  test('a role that a service assumes is for this AWS account alone, where the service says for whom it acts', async () => {
    const roles = await resourcesOf(assembly(), 'AWS::IAM::Role');
    const open = roles.flatMap(({ stack, logicalId, properties: { AssumeRolePolicyDocument: trust } }) =>
      trust.Statement.flatMap(({ Principal, Condition }: Statement) => {
        const { Service: service } = Principal as { Service?: string };
        const isOurs = JSON.stringify(Condition) === '{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}}';
        return service === undefined || isOurs ? [] : [`${stack.split('-')[2]} ${logicalId} ${service}`];
      }),
    );
    expect(open.filter((role) => !WITHOUT_SOURCE_ACCOUNT.some((known) => known.test(role)))).toEqual([]);
    expect(roles.length - open.length).toBeGreaterThan(15);
  });

  test('only what the guide lists can read the origin secret, and what starts a login reads no secret of the login', async () => {
    const reads = (await resourcesOf(assembly(), 'AWS::IAM::Policy')).flatMap(({ properties }) =>
      properties.PolicyDocument.Statement.flatMap(({ Action, Resource }: Statement) =>
        Action === 'secretsmanager:GetSecretValue' || JSON.stringify(Action).includes('secretsmanager')
          ? [{ role: String(properties.Roles[0].Ref), secret: JSON.stringify(Resource) }]
          : [],
      ),
    );
    const readersOf = (secret: string) =>
      reads.flatMap(({ role, secret: read }) => (read.includes(secret) ? [role.replace(/Role[0-9A-F]{8}$/, '')] : []));
    const isStreaming = !stage.includes('without streaming');
    const guide = await readFile(join(import.meta.dirname, '../../../docs/operate.md'), 'utf8');
    const [, listed = ''] = /^\| The functions (.*), and the streaming function \| They compare it/m.exec(guide) ?? [];
    const functions = [...listed.matchAll(/`(\w)(\w+)`/g)].map(
      ([, first = '', rest]) => `${first.toUpperCase()}${rest}`,
    );
    // The role of the streaming function has no name of its own.
    expect(readersOf('OriginSecret').toSorted()).toEqual([...functions, ...(isStreaming ? [''] : [])].toSorted());
    expect(readersOf('LoginClientSecret')).toEqual(['FinishLogin']);
    // The values that CloudFormation itself puts into resources.
    const { templates } = await loadAssembly(assembly());
    const resolved = Object.entries(templates).flatMap(([name, { Resources }]) =>
      Object.values(Resources).flatMap(({ Type, Properties }) =>
        JSON.stringify(Properties ?? {}).includes('{{resolve:secretsmanager:') ? [`${name.split('-')[2]} ${Type}`] : [],
      ),
    );
    expect(resolved.toSorted()).toEqual(['Edge AWS::ApiGateway::ApiKey', 'Edge AWS::CloudFront::Distribution']);
  });

  test('every bucket is private, and requires TLS', async () => {
    const buckets = await resourcesOf(assembly(), 'AWS::S3::Bucket');
    const policies = await resourcesOf(assembly(), 'AWS::S3::BucketPolicy');
    expect(buckets.length).toBeGreaterThanOrEqual(4);
    for (const { stack, logicalId, properties } of buckets) {
      expect(properties.PublicAccessBlockConfiguration).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      });
      const own = policies.filter((policy) => policy.stack === stack && policy.properties.Bucket.Ref === logicalId);
      const statements: Statement[] = own.flatMap(({ properties: { PolicyDocument } }) => PolicyDocument.Statement);
      expect(statements).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Action: 's3:*',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
      expect(statements.filter(({ Effect, Principal }) => Effect === 'Allow' && isEveryone(Principal))).toEqual([]);
    }
  });

  test('no grant has a wildcard except those listed with a reason, and none is on all resources', async () => {
    const allowed = (await statementsOf(assembly())).filter(([, { Effect }]) => Effect === 'Allow');
    expect(allowed.length).toBeGreaterThan(40);
    const everywhere = allowed.filter(([, { Resource }]) => [Resource].flat().includes('*'));
    expect(everywhere).toEqual([]);
    const wild = allowed.flatMap(([holder, { Action }]) =>
      [Action].flat().flatMap((action) => (action.includes('*') ? [[holder, action] as const] : [])),
    );
    const unexplained = wild.filter(
      ([holder, action]) => !WILDCARDS.some(([of, actions]) => of.test(holder) && actions.test(action)),
    );
    expect(unexplained).toEqual([]);
  });

  test('on logs and queues, roles have only these actions, whose use no other test sees', async () => {
    const allowed = (await statementsOf(assembly())).filter(
      ([, { Effect, Principal }]) => Effect === 'Allow' && !Principal,
    );
    const holders = (wanted: string) =>
      allowed.flatMap(([holder, { Action }]) =>
        [Action]
          .flat()
          .flatMap((action) =>
            action.startsWith(wanted) ? [`${holder.replace(/RoleDefaultPolicy[0-9A-F]{8}$/, '')} ${action}`] : [],
          ),
      );
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision');
    const writers = functions.flatMap(({ logicalId, type }) =>
      HELPER.test(logicalId)
        ? []
        : // The role of the streaming function has no name of its own.
          [type === 'AWS::Lambda::Function' ? logicalId.replace(/Function[0-9A-F]{8}$/, '') : ''],
    );
    const actions = ['logs:CreateLogStream', 'logs:PutLogEvents'];
    expect(holders('logs:').toSorted()).toEqual(
      writers.flatMap((writer) => actions.map((action) => `${writer} ${action}`)).toSorted(),
    );
    expect(holders('sqs:')).toEqual(['CompleteArrivedUpload sqs:SendMessage', 'Sweep sqs:SendMessage']);
  });

  test('the roles of functions have actions of these services alone', async () => {
    const policies = await resourcesOf(assembly(), 'AWS::IAM::Policy');
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision');
    const users = JSON.stringify(functions.filter(({ logicalId }) => !HELPER.test(logicalId)));
    const actions = policies.flatMap(({ properties: { Roles, PolicyDocument } }) =>
      Roles.some(({ Ref }: { Ref: string }) => users.includes(`"${Ref}"`))
        ? PolicyDocument.Statement.flatMap(({ Action }: Statement) => Action)
        : [],
    );
    const services = new Set(actions.map((action) => action.split(':')[0]));
    // Lambda itself writes the logs and sends the events that failed, by the role of the function.
    expect([...services].toSorted()).toEqual(['dynamodb', 'logs', 's3', 'secretsmanager', 'sqs', 'ssm']);
  });

  test('the stacks make no key, key pair or certificate of their own', async () => {
    const { templates } = await loadAssembly(assembly());
    const types = Object.values(templates).flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type));
    const made = /^AWS::(KMS|CertificateManager|ACMPCA|CloudFront::(PublicKey|KeyGroup)|EC2::KeyPair)/;
    expect(types.filter((type) => made.test(type))).toEqual([]);
  });

  test("only CDK's helpers and the gateway have a managed policy, which is for writing logs", async () => {
    const roles = await resourcesOf(assembly(), 'AWS::IAM::Role');
    const managed = roles.flatMap(({ logicalId, properties }) =>
      (properties.ManagedPolicyArns ?? []).map((arn: unknown) => [logicalId, JSON.stringify(arn)]),
    );
    for (const [role, arn] of managed) {
      expect(role).toMatch(/^Custom|^ApiCloudWatchRole/);
      expect(arn).toMatch(/service-role\/(AWSLambdaBasicExecutionRole|AmazonAPIGatewayPushToCloudWatchLogs)"/);
    }
  });

  test('every function writes to a log group that expires, and is deleted with its stack unless it is the audit trail', async () => {
    const groups = await resourcesOf(assembly(), 'AWS::Logs::LogGroup');
    for (const { logicalId, properties, deletionPolicy } of groups) {
      if (logicalId.startsWith('AuditLog')) continue; // The next test checks it.
      // The log of downloads has the paths of files, and is kept for less time than the other logs.
      const days = logicalId.startsWith('Downloads') ? 7 : 30;
      expect([logicalId, properties.RetentionInDays, deletionPolicy]).toEqual([logicalId, days, 'Delete']);
    }
    const names = groups.map(({ stack, logicalId }) => `${stack} ${logicalId}`);
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision');
    expect(functions.length).toBeGreaterThanOrEqual(Object.keys(ROUTES).length);
    for (const { stack, logicalId, properties } of functions) {
      const { Ref: group } = settingsOf(properties).LoggingConfig?.LogGroup ?? {};
      const isAudited = /^(FinishLogin|Logout|EndSessions?|CreateApiKey|RevokeApiKey)Function/.test(logicalId);
      if (isAudited) expect([logicalId, group]).toEqual([logicalId, 'SharedAuditLog']);
      else expect([logicalId, names]).toEqual([logicalId, expect.arrayContaining([`${stack} ${group}`])]);
    }
  });

  test('the streaming function may write to its log group and to the one from which Lambda copies its lines', async () => {
    const [revision] = await resourcesOf(assembly(), 'AWS::Lambda::WebFunctionRevision');
    const groups = await resourcesOf(assembly(), 'AWS::Logs::LogGroup');
    const nameOf = (group?: Found) => String(group?.properties.LogGroupName);
    const own = groups.find(
      ({ logicalId }) => logicalId === settingsOf(revision?.properties ?? {}).LoggingConfig?.LogGroup.Ref,
    );
    const first = groups.filter((group) => nameOf(group).endsWith('.local'));
    expect(first.map(nameOf)).toEqual(revision ? [`${nameOf(own)}.local`] : []);
    const arns = [own, ...first].map((group) => ({ 'Fn::GetAtt': [group?.logicalId, 'Arn'] }));
    const grants = (await statementsOf(assembly())).filter(([holder]) => holder.startsWith('RoleDefaultPolicy'));
    const logged = grants.flatMap(([, { Action, Resource }]) =>
      [Action].flat().includes('logs:PutLogEvents') ? [Resource].flat() : [],
    );
    expect(new Set(logged)).toEqual(new Set(revision ? arns : []));
    const queries = JSON.stringify(
      await resourcesOf(assembly(), 'AWS::Logs::QueryDefinition', 'AWS::CloudWatch::Dashboard'),
    );
    expect(queries).not.toContain('.local');
  });

  test('the audit trail is kept for 90 days, and in prod it outlives its stack and is protected from deletion', async () => {
    const groups = await resourcesOf(assembly(), 'AWS::Logs::LogGroup');
    const [trail, ...others] = groups.filter(({ logicalId }) => logicalId.startsWith('AuditLog'));
    expect(others).toEqual([]);
    const isProd = stage.includes('prod');
    expect(trail).toMatchObject({
      stack: expect.stringMatching(/-Data$/),
      properties: { RetentionInDays: 90, DeletionProtectionEnabled: isProd },
      deletionPolicy: isProd ? 'RetainExceptOnCreate' : 'Delete',
    });
  });

  test('there is one function per route, one for unknown routes, two in the background, and the canary', async () => {
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function');
    const own = functions.filter(({ logicalId }) => !HELPER.test(logicalId));
    const names = own.map(({ logicalId }) => logicalId.replace(/Function[0-9A-F]{8}$/, ''));
    const expected = [...Object.keys(ROUTES), 'unknownRoute', 'completeArrivedUpload', 'sweep', 'canary'];
    expect(names.map((name) => name.toLowerCase()).sort()).toEqual(expected.map((name) => name.toLowerCase()).sort());
    const methods = await resourcesOf(assembly(), 'AWS::ApiGateway::Method');
    const targets = methods.filter(({ properties }) => properties.HttpMethod !== 'ANY').map(targetOf);
    const routes = Object.entries(ROUTES).flatMap(([name, route]) =>
      methodsOf(route).map((method) => `${method} ${name.toLowerCase()}`),
    );
    expect(targets.sort()).toEqual(routes.sort());
  });

  test('no variable of a function contains a secret or is unknown to the code', async () => {
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision');
    const known = [...Object.keys(VARIABLES), ...Object.keys(CONFIGURABLE_LIMITS), 'NODE_OPTIONS'];
    const environments = functions
      .filter(({ logicalId }) => !HELPER.test(logicalId))
      .map(({ properties }) => settingsOf(properties).Variables);
    expect(environments.length).toBeGreaterThanOrEqual(Object.keys(ROUTES).length);
    for (const variables of environments) {
      expect(Object.keys(variables).filter((name) => !known.includes(name))).toEqual([]);
      expect(JSON.stringify(variables)).not.toContain('{{resolve:');
    }
  });

  test('every function checks all its variables when it loads', async () => {
    const functions = await resourcesOf(assembly(), 'AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision');
    for (const { logicalId, properties } of functions.filter((each) => !HELPER.test(each.logicalId))) {
      const { NEEDED_VARIABLES, NODE_OPTIONS, ...variables } = settingsOf(properties).Variables;
      expect(String(NEEDED_VARIABLES).split(',').sort(), logicalId).toEqual(Object.keys(variables).sort());
    }
  });

  test('every table has point-in-time recovery, and in production deletion protection', async () => {
    const tables = await resourcesOf(assembly(), 'AWS::DynamoDB::GlobalTable');
    expect(tables).toHaveLength(6);
    for (const { stack, properties, deletionPolicy } of tables) {
      const isProduction = stack.startsWith('FileHosting-prod-');
      expect(properties.Replicas).toEqual([
        expect.objectContaining({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }),
      ]);
      expect(properties.Replicas[0].DeletionProtectionEnabled ?? false).toBe(isProduction);
      expect(deletionPolicy).toBe(isProduction ? 'RetainExceptOnCreate' : 'Delete');
    }
  });

  test('every accepted finding is accepted on a construct of a stack, not on a whole stack, and with a reason', async () => {
    const { templates } = await loadAssembly(assembly());
    const accepted = await Promise.all(Object.keys(templates).map((stack) => acknowledgements(assembly(), stack)));
    expect(accepted.flat().length).toBeGreaterThan(0);
    for (const { path, reason } of accepted.flat()) {
      expect(path).toMatch(/^FileHosting-\w+-\w+\//);
      expect(reason).toMatch(/\w+ \w+ \w+ \w+/);
    }
  });
});

/** The log group and the variables of a function, or of a Web Function, which has them in other properties. */
function settingsOf({ LoggingConfig, Environment, ServiceConfig: web }: Found['properties']) {
  return web
    ? { LoggingConfig: web.TelemetryConfig.LoggingConfig, Variables: web.EnvironmentVariables }
    : { LoggingConfig, Variables: Environment?.Variables };
}

function isEveryone(principal: unknown): boolean {
  return principal === '*' || JSON.stringify(principal) === '{"AWS":"*"}';
}

/** A method of the gateway and the function that answers it, such as `GET listfiles`. */
function targetOf({ properties: { HttpMethod, Integration } }: Found): string {
  const [, name = ''] = /"([A-Za-z]+)Function[0-9A-F]{8}"/.exec(JSON.stringify(Integration.Uri)) ?? [];
  return `${HttpMethod} ${name.toLowerCase()}`;
}

async function acknowledgements(assembly: string, stack: string): Promise<{ path: string; reason: string }[]> {
  const metadata: Record<string, { type: string; data: Record<string, string> }[]> = JSON.parse(
    // The name of a stack in us-east-1 ends in the Region. The name of this file does not, because it is the name of the construct.
    await readFile(join(assembly, `${stack.replace(/^(\w+-\w+-\w+).*$/, '$1')}.metadata.json`), 'utf8'),
  );
  return Object.entries(metadata).flatMap(([path, entries]) =>
    entries
      .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
      .flatMap(({ data }) => Object.values(data).map((reason) => ({ path: path.replace(/^\//, ''), reason }))),
  );
}

const UNIQUE_IN_AN_ACCOUNT = [
  'AWS::CloudFront::CachePolicy',
  'AWS::CloudFront::Function',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::OriginRequestPolicy',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::CloudWatch::Dashboard',
  'AWS::Lambda::WebFunction',
];

test('a name that is unique in an AWS account contains the Region, so that a stage can be in two Regions', async () => {
  const found = await resourcesOf(production.directory, ...UNIQUE_IN_AN_ACCOUNT);
  expect(new Set(found.map(({ type }) => type))).toEqual(new Set(UNIQUE_IN_AN_ACCOUNT));
  const names = found.map(
    ({ properties }) => JSON.stringify(properties).match(/"(?:Dashboard|Function)?Name":(?:\{[^}]*\}|"[^"]*")/)?.[0],
  );
  const region = String(prod.region);
  expect(names.filter((name) => !name?.includes('{"Ref":"AWS::Region"}') && !name?.includes(region))).toEqual([]);
  // CloudFront's limit is 64 characters.
  const longest = found.flatMap(({ type, properties }) =>
    type === 'AWS::CloudFront::OriginAccessControl'
      ? properties.OriginAccessControlConfig.Name['Fn::Join'][1][0].length + '-ap-southeast-1'.length
      : [],
  );
  expect(Math.max(...longest)).toBeLessThanOrEqual(64);
});

test('the data stack has termination protection, only in prod', async () => {
  const protectedOf = async (directory: string) => {
    const manifest = JSON.parse(await readFile(join(directory, 'manifest.json'), 'utf8'));
    return Object.entries<{ properties?: { terminationProtection?: boolean } }>(manifest.artifacts).flatMap(
      ([name, { properties }]) => (properties?.terminationProtection ? name : []),
    );
  };
  expect(await protectedOf(production.directory)).toEqual(['FileHosting-prod-Data']);
  expect(await protectedOf(inlineOnly.directory)).toEqual([]);
});
