import type { Consumption } from '../call.ts';

/** What DynamoDB says of one table. */
export interface ConsumedCapacity {
  readonly TableName: string;
  readonly CapacityUnits: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly [detail: string]: unknown;
}

type Detail = 'NONE' | 'TOTAL' | 'INDEXES';

const READS = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem', 'TransactGetItems']);
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/** Whether DynamoDB charges units for the operation and will say how many. */
export const isMetered = (operation: string): boolean => READS.has(operation) || WRITES.has(operation);

/**
 * What an answer says it cost. The engine charges nothing for a read that finds nothing, DynamoDB the smallest read.
 * @param isStrong  whether the request asked for `ConsistentRead`.
 */
export function consumptionOf(
  operation: string,
  capacity: ConsumedCapacity | readonly ConsumedCapacity[],
  isStrong: boolean,
): Consumption[] {
  const least = operation === 'Query' || operation === 'Scan' || operation === 'GetItem' ? (isStrong ? 1 : 0.5) : 0;
  return [capacity].flat().map(({ TableName, CapacityUnits }) => ({
    table: TableName,
    readUnits: READS.has(operation) ? Math.max(CapacityUnits, least) : 0,
    writeUnits: WRITES.has(operation) ? CapacityUnits : 0,
  }));
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
