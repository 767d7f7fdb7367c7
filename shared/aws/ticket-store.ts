import {
  DeleteCommand,
  GetCommand,
  paginateQuery,
  type QueryCommandInput,
  type TransactWritePut,
  type TransactWriteUpdate,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { type FileRef, firstEndOf, type IdempotencyClaim, type Ticket } from '../files/file.ts';
import { shardOf } from '../files/shards.ts';
import type { TicketStore } from '../files/stores.ts';
import {
  dynamoDb,
  failedCondition,
  type Item,
  readMap,
  readNumber,
  readOptionalNumber,
  readOptionalText,
  readSet,
  readText,
  tableName,
} from './dynamodb.ts';
import { fileAt, sortableTime } from './file-items.ts';
import { writeItem } from './transactions.ts';

/** The partition key of a ticket is this text and the number of its shard. The partition key of a file is the id of its account. */
const PARTITION = '#tickets#';

/** `state` is a reserved word of DynamoDB, so expressions need another name for it. */
const STATE = { '#state': 'state' };
const PENDING = { ':pending': 'pending' };

/**
 * {@link TicketStore} in DynamoDB: rows of the table of files, in partitions of their own. The id of a row begins with the time at which
 * the ticket ends if it is not renewed. So the sweeper finds the rows without an index (decision 0038).
 */
export const ticketStore: TicketStore = {
  async get(ref) {
    const { Item } = await dynamoDb.send(new GetCommand({ ...ticketAt(ref), ConsistentRead: true }));
    return Item && toTicket(Item);
  },

  async renew(ref, endsAt) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET ends_at = :end',
      // A renewal that arrives late must not undo a later one.
      ConditionExpression: '#state = :pending AND ends_at < :end',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ...PENDING, ':end': endsAt },
    });
    return found === undefined || found.state === 'pending';
  },

  async beginAttempt(ref, { objectKey, until }, now) {
    const found = await updateIf(ref, {
      UpdateExpression: 'SET attempt_key = :key, attempt_until = :until ADD attempt_keys :keys',
      // A write that is repeated because its answer was lost finds its own lease, and succeeds. A write that arrives after its
      // attempt has ended finds its key only in `attempt_keys`, and fails.
      ConditionExpression: `#state = :pending AND (attempt_key = :key
        OR ((attribute_not_exists(attempt_until) OR attempt_until <= :now) AND NOT contains(attempt_keys, :key)))`,
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: {
        ...PENDING,
        ':key': objectKey,
        ':keys': new Set([objectKey]),
        ':until': until,
        ':now': now,
      },
    });
    if (found === undefined) return 'begun';
    return found.state === 'pending' ? 'busy' : 'not pending';
  },

  async endAttempt(ref, objectKey) {
    const found = await updateIf(ref, {
      UpdateExpression: 'REMOVE attempt_key, attempt_until',
      ConditionExpression: '#state = :pending AND attempt_key = :key',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: { ...PENDING, ':key': objectKey },
    });
    return found?.state === 'settled' && found.attempt_key === objectKey ? 'settled' : 'ended';
  },

  async *endedAt(shard, time, rows) {
    const pages = query(shard, {
      KeyConditionExpression: 'account_id = :partition AND id < :time',
      // `:time` is `time + 1`. An id begins with the time of the end, and more characters follow. So the ids of tickets that end at
      // `time + 1` sort after `:time`: they are not found.
      ExpressionAttributeValues: { ':time': sortableTime(time + 1) },
      Limit: rows,
    });
    const failures: Error[] = [];
    for await (const { Items = [] } of pages) {
      const tickets = Items.flatMap((item) => {
        try {
          return toTicket(item);
        } catch (error) {
          failures.push(new Error(`the row of the ticket ${refOf(item).id} cannot be read`, { cause: error }));
          return [];
        }
      });
      // A renewed ticket ends later than its key says.
      yield tickets.filter(({ endsAt }) => endsAt <= time);
    }
    if (failures.length > 0) throw failures[0];
  },

  async *ofAccount(accountId) {
    const pages = query(shardOf(accountId), {
      KeyConditionExpression: 'account_id = :partition',
      ConsistentRead: true,
    });
    for await (const { Items = [] } of pages) {
      // Tickets of other accounts are left out before they are parsed, so that a broken row harms only its own account.
      yield* Items.filter((item) => refOf(item).accountId === accountId).map(toTicket);
    }
  },

  async remove(ref) {
    const command = new DeleteCommand({
      ...ticketAt(ref),
      ConditionExpression: 'attribute_exists(id) AND #state <> :pending',
      ExpressionAttributeNames: STATE,
      ExpressionAttributeValues: PENDING,
    });
    return (await failedCondition(writeItem(() => dynamoDb.send(command)))) === undefined;
  },
};

/** The row of a new ticket. The write fails if the row exists. Then an earlier attempt has written the ticket. */
export function newTicket(ticket: Ticket): TransactWritePut {
  const { TableName, Key } = ticketAt(ticket);
  const Item = {
    ...Key,
    state: 'pending',
    name: ticket.name,
    mime_type: ticket.mimeType,
    size_bytes: ticket.sizeBytes,
    ...(ticket.checksumSha256 !== undefined && { checksum_sha256: ticket.checksumSha256 }),
    ...(ticket.idempotency && { idempotency: claimAttributes(ticket.idempotency) }),
    ends_at: ticket.endsAt,
  };
  return { TableName, Item, ConditionExpression: 'attribute_not_exists(id)' };
}

/**
 * The update by which a ticket becomes a file. It succeeds only for the attempt that holds the lease, whose copy becomes the
 * object of the file.
 */
export function ticketSettles(ref: FileRef, objectKey: string): TransactWriteUpdate {
  return {
    ...ticketAt(ref),
    UpdateExpression: 'SET #state = :settled REMOVE idempotency, attempt_until DELETE attempt_keys :keys',
    ConditionExpression: '#state = :pending AND attempt_key = :key',
    ExpressionAttributeNames: STATE,
    ExpressionAttributeValues: { ...PENDING, ':settled': 'settled', ':key': objectKey, ':keys': new Set([objectKey]) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
}

/**
 * The update that ends the reservation of a ticket. It fails when the ticket is no longer pending. It also fails when the ticket was
 * renewed since it was read, because then the client still uses the ticket.
 */
export function ticketIsReleased(ticket: Ticket, state: Ticket['state']): TransactWriteUpdate {
  return {
    ...ticketAt(ticket),
    UpdateExpression: 'SET #state = :state',
    ConditionExpression: '#state = :pending AND ends_at = :seen',
    ExpressionAttributeNames: STATE,
    ExpressionAttributeValues: { ...PENDING, ':state': state, ':seen': ticket.endsAt },
  };
}

function ticketAt(ref: FileRef) {
  const { accountId, id } = ref;
  const sortKey = `${sortableTime(firstEndOf(id))}#${accountId}#${id}`;
  return fileAt({ accountId: `${PARTITION}${shardOf(accountId)}`, id: sortKey });
}

function query(shard: number, input: Partial<QueryCommandInput>) {
  return paginateQuery(
    { client: dynamoDb },
    {
      TableName: tableName('files'),
      ...input,
      ExpressionAttributeValues: { ...input.ExpressionAttributeValues, ':partition': `${PARTITION}${shard}` },
    },
  );
}

/** @returns undefined when the update was made; else the row as the failed condition found it, or an empty item when there is no row. */
function updateIf(ref: FileRef, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>): Promise<Item | undefined> {
  const command = new UpdateCommand({ ...ticketAt(ref), ReturnValuesOnConditionCheckFailure: 'ALL_OLD', ...input });
  return failedCondition(writeItem(() => dynamoDb.send(command)));
}

function refOf(item: Item): FileRef {
  const [, accountId = '', id = ''] = readText(item, 'id').split('#');
  return { accountId, id };
}

function toTicket(item: Item): Ticket {
  const checksumSha256 = readOptionalText(item, 'checksum_sha256');
  const idempotency = readMap(item, 'idempotency');
  const attemptUntil = readOptionalNumber(item, 'attempt_until');
  return {
    ...refOf(item),
    state: readText(item, 'state') as Ticket['state'],
    name: readText(item, 'name'),
    mimeType: readText(item, 'mime_type'),
    sizeBytes: readNumber(item, 'size_bytes'),
    attemptKeys: readSet(item, 'attempt_keys'),
    endsAt: readNumber(item, 'ends_at'),
    ...(attemptUntil !== undefined && { attemptUntil }),
    ...(checksumSha256 !== undefined && { checksumSha256 }),
    ...(idempotency && { idempotency: toClaim(idempotency) }),
  };
}

function claimAttributes({ key, fingerprint, claimedAt }: IdempotencyClaim): Item {
  return { key, fingerprint, claimed_at: claimedAt };
}

function toClaim(item: Item): IdempotencyClaim {
  return {
    key: readText(item, 'key'),
    fingerprint: readText(item, 'fingerprint'),
    claimedAt: readNumber(item, 'claimed_at'),
  };
}
