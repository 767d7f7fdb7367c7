import { crc32 } from 'node:zlib';
import { type DynamoDbInput, dynamoDbPermissions, tableActions } from '../access/dynamodb-permissions.ts';
import type { Call, PerformedReply } from '../call.ts';
import type { Account } from '../principals.ts';
import {
  askedDetail,
  type ConsumedCapacity,
  consumptionOf,
  isMetered,
  refusedConsumption,
} from './consumed-capacity.ts';
import type { DynamoDbEngine, EngineReply } from './dynamodb-engine.ts';
import { JsonError } from './json-error.ts';
import type { JsonService } from './json-protocol.ts';

/** DynamoDB: the engine does the work, and tells the meter what it would have cost. */
export function createDynamoDbService(engine: DynamoDbEngine, account: Account): JsonService {
  return {
    name: 'dynamodb',
    targetPrefix: 'DynamoDB_20120810.',
    interpret(operation, input: DynamoDbInput) {
      const actions = tableActions(operation, input);
      if (!actions) return undefined;
      const tables = actions.map(({ table }) => table);
      return {
        tables,
        permissions: dynamoDbPermissions(operation, actions, account),
        perform: () => perform(engine, operation, input, tables),
        throttled: () => throttled(operation, tables),
        conflict: (table) => conflict(operation, tables, table),
      };
    },
  };
}

async function perform(
  engine: DynamoDbEngine,
  operation: string,
  input: DynamoDbInput,
  tables: Call['tables'],
): Promise<PerformedReply> {
  const isCharged = isMetered(operation);
  const body = isCharged ? { ...input, ReturnConsumedCapacity: 'INDEXES' } : input;
  const reply = await engine.send(operation, JSON.stringify(body));
  if (!isCharged) return { ...toReply(reply, reply.body), consumed: [] };
  const output = JSON.parse(reply.body.toString('utf8')) as { ConsumedCapacity?: ConsumedCapacity; __type?: string };
  const { ConsumedCapacity: capacity, ...rest } = output;
  if (!capacity) {
    const consumed = refusedConsumption(operation, output.__type ?? '', tables);
    return { ...toReply(reply, reply.body), consumed };
  }
  const asked = askedDetail(capacity, (input.ReturnConsumedCapacity ?? 'NONE') as 'NONE' | 'TOTAL' | 'INDEXES');
  const answer = Buffer.from(JSON.stringify(asked ? { ...rest, ConsumedCapacity: asked } : rest));
  return {
    ...toReply(reply, answer),
    consumed: consumptionOf(operation, capacity, { isStrong: input.ConsistentRead === true, tables }),
  };
}

function toReply({ status, headers }: EngineReply, body: Buffer) {
  return {
    status,
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-requestid': String(headers['x-amzn-requestid']),
      'x-amz-crc32': String(crc32(body)),
    },
    body,
  };
}

const NAMESPACE = 'com.amazonaws.dynamodb.v20120810#';
const isTransaction = (operation: string) => operation.startsWith('Transact');

function throttled(operation: string, tables: Call['tables']): JsonError {
  if (isTransaction(operation)) {
    const message =
      'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.';
    return cancelled(tables, 0, { Code: 'ThrottlingError', Message: message });
  }
  return new JsonError(
    `${NAMESPACE}ProvisionedThroughputExceededException`,
    'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  );
}

function conflict(operation: string, tables: Call['tables'], table: string | undefined): JsonError {
  if (!isTransaction(operation)) {
    return new JsonError(`${NAMESPACE}TransactionConflictException`, 'Transaction is ongoing for the item');
  }
  const index = table === undefined ? 0 : tables.indexOf(table);
  return cancelled(tables, index, { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' });
}

/** A transaction that was cancelled because of one of its items. */
function cancelled(tables: Call['tables'], index: number, reason: { Code: string; Message: string }): JsonError {
  const CancellationReasons = tables.map((_, at) => (at === index ? reason : { Code: 'None' }));
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new JsonError(`${NAMESPACE}TransactionCanceledException`, message, { CancellationReasons });
}
