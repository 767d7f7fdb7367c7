import type { Consumption } from './protocol.ts';

/**
 * The capacity units that DynamoDB charged for one table, as its answer reports them. Dynoxide reports what AWS does; DynamoDB Local has
 * other figures for transactions and for reads that find nothing.
 */
export interface ConsumedCapacity {
  readonly TableName: string;
  readonly CapacityUnits: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly [detail: string]: unknown;
}

type Detail = 'NONE' | 'TOTAL' | 'INDEXES';

const READS = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/** The capacity that a call consumed, as its answer reports it: one entry for each table. */
export function consumptionOf(
  operation: string,
  capacity: ConsumedCapacity | readonly ConsumedCapacity[],
): Consumption[] {
  return [capacity].flat().map(({ TableName, CapacityUnits }) => ({
    table: TableName,
    readUnits: READS.has(operation) ? CapacityUnits : 0,
    writeUnits: WRITES.has(operation) ? CapacityUnits : 0,
  }));
}

/**
 * What a refused write costs. DynamoDB charges a failed condition as a write of the existing item, and a cancelled transaction as
 * much as a successful one. The engines report neither cost, so each item is counted as one of at most 1 KB.
 */
export function refusedConsumption(operation: string, errorType: string, tables: readonly string[]): Consumption[] {
  const isCancelled = errorType.endsWith('TransactionCanceledException');
  if (!WRITES.has(operation) || !(isCancelled || errorType.endsWith('ConditionalCheckFailedException'))) return [];
  return tables.map((table) => ({ table, readUnits: 0, writeUnits: isCancelled ? 2 : 1 }));
}

/** Reduces the capacity to the detail that the client asked for. The engine is always asked for every detail. */
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
