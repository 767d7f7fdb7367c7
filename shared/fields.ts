import { serviceUnavailable } from './errors.ts';

/** The fields of a JSON object. Their reader knows them. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads what an operator has filled in: the text of a secret or parameter, a JSON object.
 * @param named  what the log calls it.
 * @throws ApiError `service_unavailable`, with a cause that says what is missing, and tells nothing of the text.
 */
export function readFields<Value>(named: string, text: string | undefined, read: (fields: Fields) => Value): Value {
  const value = parse(text ?? '');
  try {
    if (typeof value !== 'object' || value === null) throw new Error('it is not a JSON object');
    return read(value as Fields);
  } catch (error) {
    throw serviceUnavailable({ cause: new Error(`${named} is not filled in: ${(error as Error).message}`) });
  }
}

/** Parses JSON; undefined for any other text. The error of JSON.parse is dropped: it quotes the text, and would end up in a log. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
