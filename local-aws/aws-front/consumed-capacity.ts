import type { Consumption } from './protocol.ts';

/** The capacity units that DynamoDB charged for one table, as its answer reports them. */
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

const READS = new Set(['GetItem', 'Query', 'Scan', 'BatchGetItem']);
export const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/**
 * The capacity that a call consumed, from its answer. For a read that finds nothing, the engine may report no units, but DynamoDB charges
 * the smallest read; so this function counts the smallest read.
 * @param isStrong  whether the request asked for `ConsistentRead`; for a batch, see `missing`.
 * @param tables  the tables of the request, each as often as the request names it.
 * @param missing  for a `BatchGetItem`: the read units, by table, of the keys that have no item.
 */
export function consumptionOf(
  operation: string,
  capacity: ConsumedCapacity | readonly ConsumedCapacity[],
  {
    isStrong,
    tables,
    missing,
  }: {
    readonly isStrong: boolean;
    readonly tables: readonly string[];
    readonly missing: Readonly<Record<string, number>>;
  },
): Consumption[] {
  if (operation === 'TransactWriteItems') return [capacity].flat().map((of) => transactionConsumption(of, tables));
  const least = operation === 'Query' || operation === 'Scan' || operation === 'GetItem' ? smallestRead(isStrong) : 0;
  return [capacity].flat().map(({ TableName, CapacityUnits }) => ({
    table: TableName,
    readUnits: READS.has(operation) ? Math.max(CapacityUnits, least) + (missing[TableName] ?? 0) : 0,
    writeUnits: WRITES.has(operation) ? CapacityUnits : 0,
  }));
}

const smallestRead = (isStrong: boolean) => (isStrong ? 1 : 0.5);

/** The part of a `BatchGetItem` that is about one table. */
export interface BatchKeys {
  readonly Keys: readonly unknown[];
  readonly ConsistentRead?: boolean;
}

/**
 * The read units, by table, of the keys of a `BatchGetItem` that have no item: the smallest read for each key. A key that was not
 * processed costs nothing.
 */
export function missingUnits(
  requested: Readonly<Record<string, BatchKeys>>,
  found: Readonly<Record<string, readonly unknown[]>>,
  unprocessed: Readonly<Record<string, BatchKeys>>,
): Record<string, number> {
  const units = Object.entries(requested).map(([table, { Keys, ConsistentRead = false }]) => {
    const answered = (found[table]?.length ?? 0) + (unprocessed[table]?.Keys.length ?? 0);
    return [table, (Keys.length - answered) * smallestRead(ConsistentRead)] as const;
  });
  return Object.fromEntries(units);
}

/** For each write to an index in a transaction, the engine charges this many units. */
const ENGINE_INDEX_UNITS = 2;

/**
 * What a transaction cost. The engine gives no true figure for the items: 2 units for one item, and also 2 for several of one size. DynamoDB
 * charges two writes per item, and one unit per write to an index. Each item is counted here as one of at most 1 KB.
 * Sources: DynamoDB Developer Guide, "Capacity management for transactions"; for indexes: aws/agent-toolkit-for-aws,
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
 * What a refused write costs. DynamoDB charges a failed condition as a write of the existing item, and a cancelled transaction as
 * much as a successful one. The engine reports neither cost, so each item is counted as one of at most 1 KB.
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
