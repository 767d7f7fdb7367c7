import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** DynamoDB's typed values, made and read. */
export type Item = Record<string, AttributeValue>;

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number): AttributeValue => ({ N: String(value) });

/** A time in the unit of DynamoDB's TTL. The domain counts in epoch milliseconds. */
export function epochSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1_000);
}

/** @throws Error when the item has no such text: it was not written by us. */
export function readText(item: Item, name: string): string {
  const value = item[name]?.S;
  if (value === undefined) throw new Error(`item without the text ${name}`);
  return value;
}

/** @throws Error when the item has no such number. */
export function readNumber(item: Item, name: string): number {
  const value = item[name]?.N;
  if (value === undefined) throw new Error(`item without the number ${name}`);
  return Number(value);
}

/** Undefined when the item has no such number. */
export function readOptionalNumber(item: Item, name: string): number | undefined {
  const value = item[name]?.N;
  return value === undefined ? undefined : Number(value);
}

/** A map of counts, by number: listing groups. */
export function readCounts(value: AttributeValue | undefined): Map<number, number> {
  return new Map(Object.entries(value?.M ?? {}).map(([index, count]) => [Number(index), Number(count.N)]));
}

export function counts(values: ReadonlyMap<number, number>): AttributeValue {
  return { M: Object.fromEntries([...values].map(([index, count]) => [String(index), number(count)])) };
}
