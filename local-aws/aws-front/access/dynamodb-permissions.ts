import type { Account } from '../principals.ts';
import type { Permission } from './permission.ts';

/** The parts of a DynamoDB request that say which tables it touches, and what that costs. */
export interface DynamoDbInput {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName?: string } | undefined>>[];
  readonly ConsistentRead?: boolean;
  readonly ReturnConsumedCapacity?: string;
}

/** A part of a call: what is done to which table, in the order of the request. */
export interface TableAction {
  readonly action: string;
  readonly table: string;
  readonly index?: string;
}

/** Operations whose action has their own name. */
const SINGLE = new Set(['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan', 'DescribeTable']);
const TRANSACTION_ITEMS: Record<string, Record<string, string>> = {
  TransactGetItems: { Get: 'GetItem' },
  TransactWriteItems: {
    Put: 'PutItem',
    Update: 'UpdateItem',
    Delete: 'DeleteItem',
    ConditionCheck: 'ConditionCheckItem',
  },
};

/**
 * What a call of DynamoDB does; `undefined` for an operation that is not known here, or a request that says nothing usable.
 * A transaction needs the action of each of its items, a batch the action of the batch on each table.
 * Source: DynamoDB service authorization; "Using IAM with DynamoDB transactions".
 */
export function tableActions(operation: string, input: DynamoDbInput): TableAction[] | undefined {
  const { TableName, IndexName, RequestItems, TransactItems } = input;
  if (SINGLE.has(operation)) {
    if (typeof TableName !== 'string') return undefined;
    return [{ action: operation, table: TableName, ...(IndexName !== undefined && { index: IndexName }) }];
  }
  if (operation === 'BatchGetItem' || operation === 'BatchWriteItem') {
    return Object.keys(RequestItems ?? {}).map((table) => ({ action: operation, table: table }));
  }
  const kinds = TRANSACTION_ITEMS[operation];
  if (!kinds || !Array.isArray(TransactItems)) return undefined;
  const actions = TransactItems.map((item: Readonly<Record<string, { readonly TableName?: string } | undefined>>) => {
    const entry = Object.entries(item).find(([, value]) => value != null);
    const [name, table] = [kinds[entry?.[0] ?? ''], entry?.[1]?.TableName];
    return name !== undefined && typeof table === 'string' ? { action: name, table: table } : undefined;
  });
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

export function dynamoDbPermissions(
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
