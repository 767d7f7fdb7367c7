import { isUuid, randomToken } from '../ids.ts';
import type { FileRef, FileRow } from './file.ts';

/**
 * Keys in the bucket. Only what is under `uploads/` can be reached by a link; its key says nothing about the file.
 * `incoming/` is where direct uploads arrive: signed by us, read by us, so its keys may name the row they belong to.
 */

const PUBLIC_PREFIX = 'uploads/';
const INCOMING_PREFIX = 'incoming/';
/** Who knows the link may read the file, so nobody may guess it. */
const TOKEN_BITS = 128;

/** A key of its own for every attempt to publish bytes, so that no late writer can bring back what was deleted. */
export function newPublicKey(): string {
  return PUBLIC_PREFIX + randomToken(TOKEN_BITS);
}

export function isPublicKey(key: string): boolean {
  return key.startsWith(PUBLIC_PREFIX);
}

/**
 * The key of the object behind a link; undefined for an address that is no link of ours. The name at its end plays no part,
 * because the edge strips it, and neither does a query.
 * @param cdnUrls  every address files are served from.
 */
export function objectKeyOfLink(link: string, cdnUrls: readonly string[]): string | undefined {
  const url = URL.parse(link);
  if (!url || !cdnUrls.some((cdnUrl) => new URL(cdnUrl).host === url.host)) return undefined;
  return /^\/(uploads\/[0-9A-Za-z]+)(?:\/|$)/.exec(url.pathname)?.[1];
}

/** Where the bytes of a direct upload arrive. */
export function incomingKey({ accountId, id }: FileRef): string {
  return `${INCOMING_PREFIX}${accountId}/${id}`;
}

/** The file whose bytes arrive under this key; undefined for any other key. */
export function fileOfIncomingKey(key: string): FileRef | undefined {
  return key.startsWith(INCOMING_PREFIX) ? parseOwner(key.slice(INCOMING_PREFIX.length)) : undefined;
}

/** What a public object carries as `x-amz-meta-file`, by which the bucket's walk finds its row. The CDN strips it. */
export function ownerTag({ accountId, id }: FileRef): string {
  return `${accountId}/${id}`;
}

/** The file an owner tag names; undefined when it is none of ours. */
export function parseOwner(tag: string): FileRef | undefined {
  const [accountId = '', id = '', ...rest] = tag.split('/');
  return isUuid(accountId) && isUuid(id) && rest.length === 0 ? { accountId, id } : undefined;
}

/** Every public key under which bytes of this file are, or may still appear. */
export function publicKeysOf(row: FileRow): string[] {
  const keys = new Set<string>();
  if ('objectKey' in row && row.objectKey !== undefined) keys.add(row.objectKey);
  if ('attemptKeys' in row) for (const key of row.attemptKeys) keys.add(key);
  return [...keys];
}
