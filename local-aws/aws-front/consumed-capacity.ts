import type { Consumption } from './protocol.ts';

/** What DynamoDB says of one table. */
export interface ConsumedCapacity {
  readonly TableName: string;
  readonly CapacityUnits: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly LocalSecondaryIndexes?: IndexCapacity;
  readonly GlobalSecondaryIndexes?: IndexCapacity;
  readonly [detail: string]: unknown;
}

type IndexCapacity = Readonly<Record<string, { readonly CapacityUnits: number }>>;

type Detail = 'NONE' | 'TOTAL' | 'INDEXES';

const READS = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem', 'TransactGetItems']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/** Whether DynamoDB charges units for the operation and will say how many. */
export const isMetered = (operation: string): boolean => READS.has(operation) || WRITES.has(operation);

/**
 * What an answer says it cost. The engine charges nothing for a read that finds nothing, DynamoDB the smallest read.
 * @param isStrong  whether the request asked for `ConsistentRead`.
 * @param tables  of the request, each as often as it names it.
 */
export function consumptionOf(
  operation: string,
  capacity: ConsumedCapacity | readonly ConsumedCapacity[],
  { isStrong, tables }: { readonly isStrong: boolean; readonly tables: readonly string[] },
): Consumption[] {
  if (operation === 'TransactWriteItems') return [capacity].flat().map((of) => transactionConsumption(of, tables));
  const least = operation === 'Query' || operation === 'Scan' || operation === 'GetItem' ? (isStrong ? 1 : 0.5) : 0;
  return [capacity].flat().map(({ TableName, CapacityUnits }) => ({
    table: TableName,
    readUnits: READS.has(operation) ? Math.max(CapacityUnits, least) : 0,
    writeUnits: WRITES.has(operation) ? CapacityUnits : 0,
  }));
}

/** The engine charges a transaction's write of an index so many times. */
const ENGINE_INDEX_UNITS = 4;

/**
 * Of a transaction the engine tells no true figure for its items: 4 for one, and 4 for several. DynamoDB charges two writes
 * an item, here as of at most 1 KB, and one a write of an index.
 * Sources: DynamoDB Developer Guide, "Capacity management for transactions"; of indexes: aws/agent-toolkit-for-aws,
 * `calculate_costs.py`.
 */
function transactionConsumption(capacity: ConsumedCapacity, tables: readonly string[]): Consumption {
  const { TableName, LocalSecondaryIndexes = {}, GlobalSecondaryIndexes = {} } = capacity;
  const indexes = [LocalSecondaryIndexes, GlobalSecondaryIndexes].flatMap((of) => Object.values(of));
  const indexUnits = indexes.reduce((sum, { CapacityUnits }) => sum + CapacityUnits / ENGINE_INDEX_UNITS, 0);
  const items = tables.filter((table) => table === TableName).length;
  return { table: TableName, readUnits: 0, writeUnits: 2 * items + indexUnits };
}

/**
 * What a refused write costs. DynamoDB charges a failed condition as a write of the item that is there, and a cancelled
 * transaction as one that went through; the engine tells neither, so each item counts as one of at most 1 KB.
 */
export function refusedConsumption(operation: string, errorType: string, tables: readonly string[]): Consumption[] {
  const isCancelled = errorType.endsWith('TransactionCanceledException');
  if (!WRITES.has(operation) || !(isCancelled || errorType.endsWith('ConditionalCheckFailedException'))) return [];
  return tables.map((table) => ({ table, readUnits: 0, writeUnits: isCancelled ? 2 : 1 }));
}

/** The part of the detail (always asked for in full) that the client asked for. */
export function askedDetail(
  capacity: ConsumedCapacity | readonly ConsumedCapacity[],
  asked: Detail,
): ConsumedCapacity | readonly ConsumedCapacity[] | undefined {
  if (asked === 'NONE') return undefined;
  if (asked === 'INDEXES') return capacity;
  const total = ({ TableName, CapacityUnits, ReadCapacityUnits, WriteCapacityUnits }: ConsumedCapacity) => ({
    TableName,
    CapacityUnits,
    ...(ReadCapacityUnits !== undefined && { ReadCapacityUnits }),
    ...(WriteCapacityUnits !== undefined && { WriteCapacityUnits }),
  });
  return Array.isArray(capacity) ? capacity.map(total) : total(capacity as ConsumedCapacity);
}
