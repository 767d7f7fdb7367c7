import { DeleteCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type DeletionNoteStore, NOTE_FILES_MAX, NOTE_MS, NOTE_SHARDS } from '../files/deletion-notes.ts';
import { dynamoDb, failedCondition, readSet, readText, tableName } from './dynamodb.ts';
import { fileAt, sortableTime } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** The partition key of a note is this text and the number of its shard. The partition key of a file is the id of its account. */
const PARTITION = '#deletions#';

/**
 * {@link DeletionNoteStore} in DynamoDB: rows of the table of files, in partitions of their own. Their ids begin with the time, so that
 * the sweeper finds them without an index.
 */
export const deletionNoteStore: DeletionNoteStore = {
  // The file goes into the note of its account for these five seconds. If this note is full, the file goes into one of 16 further notes; if
  // that one is full, into a note of its own.
  async add({ accountId, id }, now) {
    const first = `${sortableTime(now - (now % NOTE_MS))}#${accountId}`;
    for (const noteId of [first, `${first}#${id.slice(-1)}`, `${first}#${id}`]) {
      const command = new UpdateCommand({
        ...noteAt(accountId, noteId),
        UpdateExpression: 'ADD file_ids :ids',
        ConditionExpression: 'attribute_not_exists(file_ids) OR size(file_ids) < :most',
        ExpressionAttributeValues: { ':ids': new Set([id]), ':most': NOTE_FILES_MAX },
      });
      const isFull = await failedCondition(writeItem(() => dynamoDb.send(command)));
      if (!isFull) return;
    }
  },

  async *begunBefore(shard, time) {
    const pages = paginateQuery(
      { client: dynamoDb },
      {
        TableName: tableName('files'),
        KeyConditionExpression: 'account_id = :partition AND id < :time',
        ExpressionAttributeValues: { ':partition': `${PARTITION}${shard}`, ':time': sortableTime(time) },
      },
    );
    for await (const { Items = [] } of pages) {
      for (const item of Items) {
        const id = readText(item, 'id');
        const [begunAt, accountId = ''] = id.split('#');
        yield { id, accountId, begunAt: Number(begunAt), fileIds: readSet(item, 'file_ids') };
      }
    }
  },

  async remove(note) {
    const command = new DeleteCommand({
      ...noteAt(note.accountId, note.id),
      ConditionExpression: 'file_ids = :read',
      ExpressionAttributeValues: { ':read': new Set(note.fileIds) },
    });
    await failedCondition(writeItem(() => dynamoDb.send(command)));
  },
};

function noteAt(accountId: string, id: string) {
  // The ids of accounts are hashes, so their last digits spread the notes evenly over the shards.
  const shard = Number.parseInt(accountId.slice(-1), 16) % NOTE_SHARDS;
  return fileAt({ accountId: `${PARTITION}${shard}`, id });
}
