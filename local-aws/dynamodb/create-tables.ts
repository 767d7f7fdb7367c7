import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { Deployment, Resource } from '../template/deployment.ts';
import { readProperties } from '../template/read-properties.ts';
import { readRoles } from '../template/role-policies.ts';
import { engineClient } from './engine-client.ts';

type Keys = Pick<
  CreateTableCommandInput,
  'AttributeDefinitions' | 'GlobalSecondaryIndexes' | 'KeySchema' | 'LocalSecondaryIndexes'
>;

interface TableConfig {
  readonly name: string;
  readonly keys: Keys;
  /** The attribute with the time of expiry. */
  readonly ttl?: string;
}

/** Billing, backups, replicas and protection have no effect in the local AWS. */
const NO_EFFECT = [
  'BillingMode',
  'DeletionProtectionEnabled',
  'PointInTimeRecoverySpecification',
  'Replicas',
  'SSESpecification',
  'TableName',
  'Tags',
  'WarmThroughput',
];

/**
 * Creates the missing tables of the template.
 * @throws Error in one sentence when a table exists with other keys, or a policy names a table that does not exist.
 */
export async function createTables(deployment: Deployment, endpoint: string): Promise<void> {
  const client = engineClient(endpoint);
  try {
    const tables = deployment.resources('AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table').map(readTable);
    await Promise.all(tables.map((table) => createTable(client, table)));
    await requireTables(client, deployment, new Set(tables.map(({ name }) => name)));
  } finally {
    client.destroy();
  }
}

/** Requires the tables that the template uses and does not create, such as a restored one. */
async function requireTables(
  client: DynamoDBClient,
  deployment: Deployment,
  created: ReadonlySet<string>,
): Promise<void> {
  const policies = JSON.stringify(readRoles(deployment).map(({ policies }) => policies));
  const used = [...policies.matchAll(/"arn:aws:dynamodb:[^"]*?:table\/([\w.-]+)/g)].map(([, name = '']) => name);
  for (const name of new Set(used).difference(created)) {
    if (await describeTable(client, name)) continue;
    throw new Error(`The template uses the table ${name} and does not create it, and there is no such table.`);
  }
}

function readTable(resource: Resource): TableConfig {
  return readProperties(
    resource.logicalId,
    resource.properties(),
    (take) => {
      const ttl = take<{ AttributeName?: string; Enabled?: boolean }>('TimeToLiveSpecification', {});
      const global = take<NonNullable<Keys['GlobalSecondaryIndexes']>>('GlobalSecondaryIndexes', []);
      const local = take<NonNullable<Keys['LocalSecondaryIndexes']>>('LocalSecondaryIndexes', []);
      return {
        name: resource.ref,
        keys: {
          AttributeDefinitions: take<Keys['AttributeDefinitions']>('AttributeDefinitions'),
          KeySchema: take<Keys['KeySchema']>('KeySchema'),
          ...(global.length > 0 && { GlobalSecondaryIndexes: global }),
          ...(local.length > 0 && { LocalSecondaryIndexes: local }),
        },
        ...(ttl.Enabled && ttl.AttributeName && { ttl: ttl.AttributeName }),
      };
    },
    NO_EFFECT,
  );
}

/** If the process dies before it has turned on the expiry of a new table, the next start does so: it checks existing tables, too. */
async function createTable(client: DynamoDBClient, { name, keys, ttl }: TableConfig): Promise<void> {
  const TableName = name;
  const existing = await describeTable(client, name);
  if (!existing) {
    await client.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...keys }));
  } else if (!isDeepStrictEqual(comparable(existing), comparable(keys))) {
    throw new Error(
      `The table ${name} was created with other keys than the template gives it now: remove DATA_DIR to start with an empty one.`,
    );
  }
  if (ttl === undefined) return;
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED') return;
  const TimeToLiveSpecification = { AttributeName: ttl, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

/** @returns undefined when there is no such table. */
async function describeTable(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** The parts of a table that are compared, in a fixed order. */
function comparable(table: Keys | TableDescription): unknown {
  const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  const attributes = table.AttributeDefinitions ?? [];
  return {
    keys: table.KeySchema,
    attributes: Object.fromEntries(
      attributes.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]),
    ),
    indexes: Object.fromEntries(
      indexes.map(({ IndexName, KeySchema, Projection }) => [
        IndexName,
        { KeySchema, type: Projection?.ProjectionType, copies: Projection?.NonKeyAttributes?.toSorted() },
      ]),
    ),
  };
}
