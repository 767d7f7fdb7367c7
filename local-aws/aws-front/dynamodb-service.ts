import { crc32 } from 'node:zlib';
import { askedDetail, type ConsumedCapacity, consumptionOf, refusedConsumption } from './consumed-capacity.ts';
import type { DynamoDbEngine, EngineReply } from './dynamodb-engine.ts';
import { JsonError, type JsonService } from './json-protocol.ts';
import type { Permission } from './policy-evaluator.ts';
import type { Account } from './principals.ts';
import type { Call, PerformedReply } from './protocol.ts';

/** DynamoDB: the engine performs the calls and says what they cost. */
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
        ...(CAN_CONFLICT.has(operation) && { conflict: (table) => conflict(operation, tables, table) }),
      };
    },
  };
}

/** The operations that can conflict with a transaction. */
const CAN_CONFLICT = new Set(['TransactWriteItems', 'PutItem', 'UpdateItem', 'DeleteItem']);

/** The parts of a DynamoDB request that decide which tables it touches and what it costs. */
interface DynamoDbInput {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName?: string } | undefined>>[];
  readonly ReturnConsumedCapacity?: string;
}

/** One action of a call on one table. */
interface TableAction {
  readonly action: string;
  readonly table: string;
  readonly index?: string;
}

/** The operations on one table, whose IAM action has the same name. */
const SINGLE = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan']);
const BATCHES = new Set(['BatchGetItem', 'BatchWriteItem']);
export const TABLE_OPERATIONS = [...SINGLE, ...BATCHES, 'TransactWriteItems'];

/** The action of each kind of item in a TransactWriteItems. */
const TRANSACTION_ITEMS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/**
 * The actions of a call, in the order of the request. A transaction needs the action of each of its items. A batch needs its own action,
 * such as `BatchGetItem`, on each of its tables.
 * @returns undefined for an unknown operation, or for a request without the parameters that name its tables. A batch without
 *   tables has no actions, and the engine refuses it.
 * Source: DynamoDB service authorization; "Using IAM with DynamoDB transactions".
 */
function tableActions(operation: string, input: DynamoDbInput): TableAction[] | undefined {
  const { TableName, IndexName, RequestItems, TransactItems } = input;
  if (SINGLE.has(operation)) {
    if (typeof TableName !== 'string') return undefined;
    return [{ action: operation, table: TableName, ...(IndexName !== undefined && { index: IndexName }) }];
  }
  if (BATCHES.has(operation)) {
    return Object.keys(RequestItems ?? {}).map((table) => ({ action: operation, table: table }));
  }
  if (operation !== 'TransactWriteItems' || !Array.isArray(TransactItems)) return undefined;
  const actions = TransactItems.map((item: Readonly<Record<string, { readonly TableName?: string } | undefined>>) => {
    const entry = Object.entries(item).find(([, value]) => value != null);
    const [name, table] = [TRANSACTION_ITEMS[entry?.[0] ?? ''], entry?.[1]?.TableName];
    return name !== undefined && typeof table === 'string' ? { action: name, table: table } : undefined;
  });
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

function dynamoDbPermissions(
  operation: string,
  actions: readonly TableAction[],
  { region, accountId }: Account,
): Permission[] {
  return actions.map(({ action, table, index }) => ({
    action: `dynamodb:${action}`,
    resource: `arn:aws:dynamodb:${region}:${accountId}:table/${table}${index === undefined ? '' : `/index/${index}`}`,
    ...(action !== operation && { context: { 'dynamodb:EnclosingOperation': operation } }),
  }));
}

/** The parts of an answer that say what the call cost. */
interface DynamoDbOutput {
  readonly ConsumedCapacity?: ConsumedCapacity;
  readonly __type?: string;
}

async function perform(
  engine: DynamoDbEngine,
  operation: string,
  input: DynamoDbInput,
  tables: Call['tables'],
): Promise<PerformedReply> {
  const reply = await engine.send(operation, JSON.stringify({ ...input, ReturnConsumedCapacity: 'INDEXES' }));
  const output = JSON.parse(reply.body.toString('utf8')) as DynamoDbOutput;
  const { ConsumedCapacity: capacity, ...rest } = output;
  if (!capacity) {
    const consumed = refusedConsumption(operation, output.__type ?? '', tables);
    return { ...toReply(reply, reply.body), consumed };
  }
  const asked = askedDetail(capacity, (input.ReturnConsumedCapacity ?? 'NONE') as 'NONE' | 'TOTAL' | 'INDEXES');
  const answer = Buffer.from(JSON.stringify(asked ? { ...rest, ConsumedCapacity: asked } : rest));
  return { ...toReply(reply, answer), consumed: consumptionOf(operation, capacity) };
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

/** The error of a transaction that was cancelled because of one of its items. */
function cancelled(tables: Call['tables'], index: number, reason: { Code: string; Message: string }): JsonError {
  const CancellationReasons = tables.map((_, at) => (at === index ? reason : { Code: 'None' }));
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return new JsonError(`${NAMESPACE}TransactionCanceledException`, message, { CancellationReasons });
}
