import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { FileStore } from '../files/stores.ts';
import { dynamoDb, failedCondition } from './dynamodb.ts';
import { fileAt, toFileRow } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** {@link FileStore} in DynamoDB; `docs/architecture/row-shapes.ts` says what the rows hold. */
export const fileStore: FileStore = {
  async get(ref) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...fileAt(ref), ConsistentRead: true }));
    return Item && toFileRow(Item);
  },

  async remove(ref) {
    const command = new DeleteCommand({
      ...fileAt(ref),
      // The condition fails when the row is gone already, or the file was not deleted. Then there is nothing to do.
      ConditionExpression: '#state = :deleting',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':deleting': 'deleting' },
    });
    await failedCondition(writeItem(() => dynamoDb.send(command)));
  },
};
