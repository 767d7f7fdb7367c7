import { PutItemCommand, paginateListTables } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { TABLES } from '../../../shared/aws/tables.ts';
import { createTables, dynamoDbClient } from '../../support/tables.ts';

test('DynamoDB Local creates every table that the product declares', async () => {
  const client = dynamoDbClient();
  const names = await createTables(client);
  const listed: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) listed.push(...TableNames);
  expect(listed).toEqual(expect.arrayContaining(Object.values(names)));
  expect(Object.keys(names)).toEqual(Object.keys(TABLES));
  await client.send(new PutItemCommand({ TableName: names.accounts, Item: { id: { S: 'a' } } }));
});
