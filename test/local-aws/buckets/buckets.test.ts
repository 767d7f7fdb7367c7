import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { type AwsFront, type AwsFrontOptions, startAwsFront } from '../../../local-aws/aws-front/aws-front.ts';
import { deployFiles } from '../../../local-aws/buckets/deploy-files.ts';
import { readBuckets } from '../../../local-aws/buckets/read-buckets.ts';
import { readPrincipals } from '../../../local-aws/read-principals.ts';
import { ACCOUNT, deploy, lambdaFunction } from '../assembly-fixture.ts';

const fronts: AwsFront[] = [];
afterEach(async () => {
  await Promise.all(fronts.splice(0).map((front) => front.close()));
});

const bucket = (Properties: Record<string, unknown> = {}) => ({ Type: 'AWS::S3::Bucket', Properties });

describe('a bucket', () => {
  test('has its policy and its CORS rules', async () => {
    const rule = { AllowedMethods: ['PUT'], AllowedOrigins: ['*'] };
    const policy = { Version: '2012-10-17', Statement: [] };
    const [read] = readBuckets(
      await deploy({
        Uploads: bucket({ CorsConfiguration: { CorsRules: [rule] } }),
        Policy: {
          Type: 'AWS::S3::BucketPolicy',
          Properties: { Bucket: { Ref: 'Uploads' }, PolicyDocument: policy },
        },
      }),
    );
    expect(read).toMatchObject({ cors: [rule], policy, hasEvents: false });
  });

  test.each([
    [
      'sends events to EventBridge when they are enabled',
      { EventBridgeConfiguration: { EventBridgeEnabled: true } },
      true,
    ],
    ['sends events to EventBridge with an empty EventBridgeConfiguration', { EventBridgeConfiguration: {} }, true],
    [
      'sends no events to EventBridge when they are disabled',
      { EventBridgeConfiguration: { EventBridgeEnabled: false } },
      false,
    ],
    ['sends no events to EventBridge without an EventBridgeConfiguration', {}, false],
  ])('%s', async (_name, NotificationConfiguration, hasEvents) => {
    const deployment = await deploy({ Uploads: bucket({ NotificationConfiguration }) });
    expect(readBuckets(deployment)).toMatchObject([{ hasEvents }]);
  });

  test.each([
    ['a website', { WebsiteConfiguration: {} }, 'does not implement WebsiteConfiguration'],
    [
      'notifications to Lambda',
      { NotificationConfiguration: { LambdaConfigurations: [] } },
      'does not implement LambdaConfigurations',
    ],
  ])('a bucket with %s is an error at the start', async (_name, properties, message) => {
    const deployment = await deploy({ Uploads: bucket(properties) });
    expect(() => readBuckets(deployment)).toThrow(message);
  });
});

describe('the files of an asset', () => {
  const FILES = { site: { 'index.html': '<p>', 'assets/app.js': '1', 'data.bin': 'x' }, more: { 'more.json': '{}' } };
  const SOURCE = { 'Fn::Sub': `assets-$\{AWS::AccountId}-$\{AWS::Region}` };

  const resources = (actions: string[], properties: Record<string, unknown> = {}) => ({
    Site: bucket(),
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        Policies: [
          {
            PolicyDocument: { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: actions, Resource: '*' }] },
          },
        ],
      },
    },
    Helper: lambdaFunction('site', { Runtime: 'python3.13', Role: { 'Fn::GetAtt': ['Role', 'Arn'] } }),
    Files: {
      Type: 'Custom::CDKBucketDeployment',
      Properties: {
        ServiceToken: { 'Fn::GetAtt': ['Helper', 'Arn'] },
        SourceBucketNames: [SOURCE, SOURCE],
        SourceObjectKeys: ['site.zip', 'more.zip'],
        DestinationBucketName: { Ref: 'Site' },
        DestinationBucketKeyPrefix: 'dashboard',
        SystemMetadata: { 'cache-control': 'max-age=60' },
        ...properties,
      },
    },
  });

  async function front(
    actions: string[],
    properties = {},
    { dataDir }: Pick<Partial<AwsFrontOptions>, 'dataDir'> = {},
  ) {
    const deployment = await deploy(resources(actions, properties), FILES);
    const started = await startAwsFront({
      ...ACCOUNT,
      dataDir: dataDir ?? (await mkdtemp(join(tmpdir(), 'buckets-'))),
      principals: readPrincipals(deployment, []),
      buckets: readBuckets(deployment),
      dynamoDbEndpoint: inject('dynamoDbEndpoint'),
    });
    fronts.push(started);
    const credentials = { accessKeyId: 'ADMIN', secretAccessKey: 'admin' };
    const Statement = [{ Effect: 'Allow', Action: '*', Resource: '*' }];
    started.addPrincipal({ ...credentials, name: 'admin', policies: [{ Version: '2012-10-17', Statement }] });
    const s3 = new S3Client({ endpoint: started.endpoint, region: ACCOUNT.region, credentials });
    return { deployment, started, s3, Bucket: readBuckets(deployment)[0]?.name };
  }

  test('are put into the bucket under their prefix, with type and cache control', async () => {
    const { deployment, started, s3, Bucket } = await front(['s3:*']);
    await deployFiles(deployment, started.endpoint);
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual([
      'dashboard/assets/app.js',
      'dashboard/data.bin',
      'dashboard/index.html',
      'dashboard/more.json',
    ]);
    const read = await s3.send(new GetObjectCommand({ Bucket, Key: 'dashboard/index.html' }));
    expect([read.ContentType, read.CacheControl]).toEqual(['text/html', 'max-age=60']);
    expect(await read.Body?.transformToString()).toBe(
      await readFile(join(deployment.assetPath(`assets-111122223333-eu-west-1`, 'site.zip'), 'index.html'), 'utf8'),
    );
  });

  test('replace the former objects under their prefix, and no others', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'buckets-'));
    const before = await front(
      ['s3:*'],
      { DestinationBucketKeyPrefix: 'other', SourceObjectKeys: ['more.zip', 'more.zip'] },
      { dataDir },
    );
    await deployFiles(before.deployment, before.started.endpoint);
    const old = await front(['s3:*'], {}, { dataDir });
    await deployFiles(old.deployment, old.started.endpoint);
    const now = await front(['s3:*'], { SourceObjectKeys: ['more.zip', 'more.zip'] }, { dataDir });
    await deployFiles(now.deployment, now.started.endpoint);
    const { Contents } = await now.s3.send(new ListObjectsV2Command({ Bucket: now.Bucket }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(['dashboard/more.json', 'other/more.json']);
  });

  test('cannot be put where the function behind the custom resource may not write', async () => {
    const { deployment, started } = await front(['s3:ListBucket']);
    await expect(deployFiles(deployment, started.endpoint)).rejects.toThrow('not authorized');
  });

  test('have the values of their own source filled in', async () => {
    const { deployment, started, s3, Bucket } = await front(['s3:*'], { SourceMarkers: [{ '<p>': '$& at' }] });
    await deployFiles(deployment, started.endpoint);
    const read = async (Key: string) =>
      (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();
    const before = join(deployment.assetPath('assets-111122223333-eu-west-1', 'site.zip'), 'index.html');
    expect(await read('dashboard/index.html')).toBe((await readFile(before, 'utf8')).replace('<p>', () => '$& at'));
    expect(await read('dashboard/more.json')).toBe('{}');
  });

  test('with values to fill in and encode are an error', async () => {
    const properties = { SourceMarkers: [{ '<<marker>>': 'x' }], SourceMarkersConfig: [{ jsonEscape: 'true' }] };
    const { deployment, started } = await front(['s3:*'], properties);
    await expect(deployFiles(deployment, started.endpoint)).rejects.toThrow('only as they are');
  });
});
