export interface PageRequest {
  readonly prefix: string;
  /** Absent: keys are not grouped. */
  readonly delimiter?: string;
  /** Entries up to and including this one are left out. */
  readonly after: string;
  readonly limit: number;
}

export interface Page {
  readonly keys: string[];
  /** Groups: the part of the keys up to the delimiter that follows the prefix. */
  readonly commonPrefixes: string[];
  /** What the next page comes after; absent when this is the last. */
  readonly next?: string;
}

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

/** Index of the first of the sorted keys that comes after the given one. */
function firstAfter(keys: readonly string[], key: string): number {
  const bytes = bytesOf(key);
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bytesOf(keys[middle] ?? '') > bytes) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * One page of the keys with a prefix; a group counts as one entry.
 * @param keys  sorted by UTF-8 bytes.
 */
export function listPage(keys: readonly string[], { prefix, delimiter, after, limit }: PageRequest): Page {
  const page = { keys: [] as string[], commonPrefixes: [] as string[] };
  let last: string | undefined;
  // The key that equals the prefix belongs to the page, so without `after` we begin just before it.
  const begin = bytesOf(after) >= bytesOf(prefix) ? firstAfter(keys, after) : firstAt(keys, prefix);
  for (let index = begin; index < keys.length; index++) {
    const key = keys[index] ?? '';
    if (!key.startsWith(prefix)) break;
    const cut = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    const group = cut === -1 ? undefined : key.slice(0, cut + (delimiter ?? '').length);
    if (group !== undefined && (group === last || group === after)) continue;
    if (page.keys.length + page.commonPrefixes.length === limit)
      return last === undefined ? page : { ...page, next: last };
    last = group ?? key;
    (group === undefined ? page.keys : page.commonPrefixes).push(last);
  }
  return page;
}

/** Index of the first key that is not before the given one. */
function firstAt(keys: readonly string[], key: string): number {
  const index = firstAfter(keys, key);
  return index > 0 && keys[index - 1] === key ? index - 1 : index;
}
