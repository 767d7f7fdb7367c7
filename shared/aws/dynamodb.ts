import { type AttributeValue, ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { required } from '../env.ts';
import { TABLES, type TableName } from '../tables.ts';
import { CALL_MS, callSettings } from './call-times.ts';
import { limitAndTranslate } from './failures.ts';

/**
 * The name under which a table was deployed. Call this when the name is used, not when the file loads, because a file may hold stores for
 * functions that do not all have the same tables. When a function loads, `env.ts` checks that the function has the names of all its tables.
 */
export function tableName(table: TableName): string {
  return required(TABLES[table].variable);
}

/** What the stores keep in an attribute. A `Set` becomes a string set, to which an update can add; an array becomes a list. */
type Value =
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | ReadonlySet<string>
  | readonly number[]
  | { readonly [name: string]: Value };

/**
 * An item of a table, or a part of one. No attribute is `undefined`, because the document client would leave it out
 * silently.
 */
export type Item = Readonly<Record<string, Value>>;

const retrying = new DynamoDBClient(callSettings(CALL_MS.database));

/** The DynamoDB client of a function. */
export const dynamoDb = documentClient(retrying);

/**
 * A client without retries, over the same connections, for writes that must happen at most once for each call. An example is the rate
 * limiter: a retry after a lost answer would count the request twice.
 */
export const dynamoDbOnce = documentClient(
  new DynamoDBClient({ maxAttempts: 1, requestHandler: retrying.config.requestHandler }),
);

function documentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  const document = DynamoDBDocumentClient.from(client, {
    // An empty text stays an empty text. A value that DynamoDB cannot keep unchanged causes an error before anything is sent.
    marshallOptions: {
      convertEmptyValues: false,
      removeUndefinedValues: false,
      convertClassInstanceToMap: false,
      allowImpreciseNumbers: false,
    },
    unmarshallOptions: { wrapNumbers: toWholeNumber },
  });
  limitAndTranslate(document);
  return document;
}

/**
 * Reads a number of an item. All our numbers are whole (bytes, counts, times, bitmaps).
 * @returns a `bigint` when a JavaScript number cannot hold it exactly, as with bitmaps.
 * @throws Error for a number that we do not write: a fraction, or one of more than the 38 digits that DynamoDB keeps.
 */
function toWholeNumber(digits: string): number | bigint {
  const value = Number(digits);
  if (Number.isSafeInteger(value)) return value;
  if (!/^-?\d{1,38}$/.test(digits)) throw new Error(`${digits} is not a whole number that we can hold`);
  return BigInt(digits);
}

/**
 * The item that a failed condition found. `failure` is the error of a single write, or the reason why a transaction was cancelled. The
 * document client leaves these items as they came over the wire. This is the one place that translates them.
 * @returns undefined when there was no such item, or when the write did not ask for it
 *   (`ReturnValuesOnConditionCheckFailure`).
 */
export function foundItem(failure: { readonly Item?: Record<string, AttributeValue> | undefined }): Item | undefined {
  return failure.Item && unmarshall(failure.Item, { wrapNumbers: toWholeNumber });
}

/** A time in the unit of DynamoDB's TTL. The domain counts in epoch milliseconds. */
export function epochSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1_000);
}

/**
 * Waits for a write of one item.
 * @returns undefined when the item was written. When the condition failed: the item as it was found. The result is empty when there is no
 *   such item, or when the write did not ask for the item.
 */
export async function failedCondition(write: Promise<unknown>): Promise<Item | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return foundItem(error) ?? {};
    throw error;
  }
}

/** @throws Error when the item has no such text. */
export function readText(item: Item, name: string): string {
  const value = item[name];
  if (typeof value !== 'string') throw new Error(`item without the text ${name}`);
  return value;
}

/** @throws Error when the item has no such number. */
export function readNumber(item: Item, name: string): number {
  const value = item[name];
  if (typeof value !== 'number') throw new Error(`item without the number ${name}`);
  return value;
}

/** Reads a bitmap: a whole number whose binary digits are the bits. @returns 0 when the item has no such attribute. */
export function readBits(item: Item, name: string): bigint {
  const value = item[name] ?? 0;
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new Error(`item without the bitmap ${name}`);
  return BigInt(value);
}

/** @throws Error when the item has no such bytes. */
export function readBytes(item: Item, name: string): Uint8Array {
  const value = item[name];
  if (!(value instanceof Uint8Array)) throw new Error(`item without the bytes ${name}`);
  return value;
}

/** @returns undefined when the item has no such attribute. @throws Error when it is not a text. */
export function readOptionalText(item: Item, name: string): string | undefined {
  return item[name] === undefined ? undefined : readText(item, name);
}

/** @returns undefined when the item has no such attribute. @throws Error when it is not a number. */
export function readOptionalNumber(item: Item, name: string): number | undefined {
  return item[name] === undefined ? undefined : readNumber(item, name);
}

/**
 * Reads an attribute that is a map, which has attributes of its own.
 * @returns undefined when the item has no such attribute.
 * @throws Error when the attribute is of another kind.
 */
export function readMap(item: Item, name: string): Item | undefined {
  const value = item[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof Set || value instanceof Uint8Array) {
    throw new Error(`item without the map ${name}`);
  }
  return value as Item;
}

/** Reads a map from names to numbers; undefined when the item has no such map. @throws Error when the map has a value of another kind. */
export function readNumbers(item: Item, name: string): Record<string, number> | undefined {
  const map = readMap(item, name);
  return map && Object.fromEntries(Object.keys(map).map((key) => [key, readNumber(map, key)]));
}

/**
 * @returns the members of a string set, in any order. There are none when the item has no such attribute, because DynamoDB keeps no empty
 *   set.
 */
export function readSet(item: Item, name: string): string[] {
  const value = item[name];
  if (value === undefined) return [];
  if (!(value instanceof Set)) throw new Error(`item without the set ${name}`);
  return [...value];
}
