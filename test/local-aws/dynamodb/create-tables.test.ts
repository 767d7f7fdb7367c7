import { randomInt } from 'node:crypto';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { expect, inject, test } from 'vitest';
import { createTables } from '../../../local-aws/dynamodb/create-tables.ts';
import { loadAssembly } from '../../../local-aws/template/assembly.ts';
import { type Deployment, resolveDeployment } from '../../../local-aws/template/deployment.ts';
import { deploy, writeAssembly } from '../assembly-fixture.ts';

const FILES = {
  AttributeDefinitions: [
    { AttributeName: 'account_id', AttributeType: 'S' },
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'seq', AttributeType: 'N' },
    { AttributeName: 'shard', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'account_id', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: 'by_seq',
      KeySchema: [
        { AttributeName: 'account_id', KeyType: 'HASH' },
        { AttributeName: 'seq', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'size'] },
    },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'unfinished',
      KeySchema: [{ AttributeName: 'shard', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
  Replicas: [
    { Region: { Ref: 'AWS::Region' }, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
  ],
  TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
};

/** A deployment of one table. By default the account is random, so that no other test has a table of the same name. */
async function deploymentOf(properties: Record<string, unknown>, accountId = String(randomInt(1e11, 1e12))) {
  const Resources = { Files: { Type: 'AWS::DynamoDB::GlobalTable', Properties: properties } };
  const assembly = await loadAssembly(await writeAssembly({ Data: { Resources } }));
  const account = { region: 'eu-west-1', accountId };
  return resolveDeployment({ assembly, account, secretValue: () => '', addresses: new Map() });
}

const endpoint = inject('dynamoDbEndpoint');
const nameOf = (deployment: Deployment) => deployment.resources('AWS::DynamoDB::GlobalTable')[0]?.ref;
const CONFIG: DynamoDBClientConfig = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
};

test('a table has the keys, indexes and expiry of the template, and is created once', async () => {
  const deployment = await deploymentOf(FILES);
  await createTables(deployment, endpoint);
  await createTables(deployment, endpoint);
  const client = new DynamoDBClient({ ...CONFIG, endpoint });
  const TableName = nameOf(deployment);
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  expect(Table?.KeySchema).toEqual(FILES.KeySchema);
  expect(Table?.LocalSecondaryIndexes).toMatchObject(FILES.LocalSecondaryIndexes);
  expect(Table?.GlobalSecondaryIndexes).toMatchObject(FILES.GlobalSecondaryIndexes);
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  expect(TimeToLiveDescription).toEqual({ AttributeName: 'expires_at', TimeToLiveStatus: 'ENABLED' });
  client.destroy();
});

test('a table whose creation was interrupted before its expiry was turned on gets the expiry at the next start', async () => {
  const { TimeToLiveSpecification: _, ...withoutExpiry } = FILES;
  const interrupted = await deploymentOf(withoutExpiry);
  await createTables(interrupted, endpoint);
  await createTables(await deploymentOf(FILES, interrupted.account.accountId), endpoint);
  const client = new DynamoDBClient({ ...CONFIG, endpoint });
  const described = await client.send(new DescribeTimeToLiveCommand({ TableName: nameOf(interrupted) }));
  expect(described.TimeToLiveDescription?.TimeToLiveStatus).toBe('ENABLED');
  client.destroy();
});

test.each([
  ['another key', { KeySchema: FILES.KeySchema.slice(0, 1), LocalSecondaryIndexes: [] }],
  ['one index less', { LocalSecondaryIndexes: [] }],
  [
    'another projection',
    { GlobalSecondaryIndexes: [{ ...FILES.GlobalSecondaryIndexes[0], Projection: { ProjectionType: 'ALL' } }] },
  ],
])('a table that exists with %s is an error that says what to do', async (_name, difference) => {
  const deployment = await deploymentOf(FILES);
  await createTables(deployment, endpoint);
  const changed = await deploymentOf({ ...FILES, ...difference }, deployment.account.accountId);
  await expect(createTables(changed, endpoint)).rejects.toThrow(
    /^The table Data-Files-\S+ was created .* remove DATA_DIR/,
  );
});

test('an unknown property is an error', async () => {
  const deployment = await deploymentOf({ ...FILES, Color: 'red' });
  await expect(createTables(deployment, endpoint)).rejects.toThrow('does not implement Color');
});

test('a table that the template names but does not create, and that does not exist, is an error', async () => {
  const granted = await deploy({
    Role: {
      Type: 'AWS::IAM::Role',
      Properties: {
        Policies: [
          {
            PolicyName: 'own',
            PolicyDocument: {
              Version: '2012-10-17',
              Statement: [
                {
                  Effect: 'Allow',
                  Action: 'dynamodb:Query',
                  Resource: {
                    'Fn::Sub': `arn:aws:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/restored/index/by_seq`,
                  },
                },
              ],
            },
          },
        ],
      },
    },
  });
  await expect(createTables(granted, endpoint)).rejects.toThrow(
    'The template uses the table restored and does not create it, and there is no such table.',
  );
});
