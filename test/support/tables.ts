import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { engineClient } from '../../local-aws/dynamodb/engine-client.ts';
import { TABLES, type TableDefinition, type TableName } from '../../shared/tables.ts';

/** A client of the test run's engine. */
export const dynamoDbClient = () => engineClient(inject('dynamoDbEndpoint'));

/** Creates all tables with unique names, and sets the variables from which the stores read the names. */
export async function createTables(client: DynamoDBClient): Promise<Record<TableName, string>> {
  const suffix = randomUUID();
  const names = {} as Record<TableName, string>;
  for (const [name, table] of Object.entries(TABLES) as [TableName, TableDefinition][]) {
    names[name] = `${name}-${suffix}`;
    process.env[table.variable] = names[name];
    await client.send(new CreateTableCommand(createTableInput(names[name], table)));
  }
  return names;
}

/** Writes the smallest row of an account. @returns the id of the account. */
export async function putAccount(client: DynamoDBClient, tables: Record<TableName, string>): Promise<string> {
  const id = randomUUID();
  await client.send(new PutItemCommand({ TableName: tables.accounts, Item: { id: { S: id } } }));
  return id;
}

function createTableInput(tableName: string, table: TableDefinition): CreateTableCommandInput {
  const indexes = { ...table.localIndexes, ...table.globalIndexes };
  const keys = [table, ...Object.values(indexes)].flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey ?? []]);
  const attributes = new Map(keys.flat().map(({ name, type }) => [name, type]));
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...attributes].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: keySchema(table),
    LocalSecondaryIndexes: indexInputs(table.localIndexes),
    GlobalSecondaryIndexes: indexInputs(table.globalIndexes),
  };
}

function keySchema({ partitionKey, sortKey }: Pick<TableDefinition, 'partitionKey' | 'sortKey'>) {
  const partition = { AttributeName: partitionKey.name, KeyType: 'HASH' as const };
  return sortKey ? [partition, { AttributeName: sortKey.name, KeyType: 'RANGE' as const }] : [partition];
}

function indexInputs(indexes: TableDefinition['localIndexes']) {
  if (!indexes) return undefined;
  return Object.entries(indexes).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: keySchema(index),
    Projection:
      index.include === 'ALL'
        ? { ProjectionType: 'ALL' as const }
        : index.include.length === 0
          ? { ProjectionType: 'KEYS_ONLY' as const }
          : { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.include] },
  }));
}
