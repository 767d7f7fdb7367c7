import { isUuid, randomToken } from '../ids.ts';
import type { FileRef } from './file.ts';

/**
 * Keys in the bucket. Links lead only to objects under `uploads/`, whose keys say nothing about the file. The bytes of direct uploads
 * arrive under `incoming/`. Only the service and the client of the upload see these keys, so a key may contain the account and the id of
 * its row.
 */

export const UPLOADS_PREFIX = 'uploads/';
const INCOMING_PREFIX = 'incoming/';
/** Everyone who knows a link may read its file, so it must be impossible to guess a link. */
const TOKEN_BITS = 128;

/**
 * Makes a new key. Every attempt to publish bytes takes a key of its own. So a late write of one attempt cannot store bytes under the link
 * of another (invariant I12 of `docs/architecture.md`).
 */
export function newObjectKey(): string {
  return UPLOADS_PREFIX + randomToken(TOKEN_BITS);
}

export function isUploadsKey(key: string): boolean {
  return key.startsWith(UPLOADS_PREFIX);
}

/**
 * The key of the object behind a link; undefined for an address that is not a link of this service. The name at the end of the
 * link and a query are ignored, because the edge strips them.
 * @param cdnUrls  all addresses from which files are served.
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

/**
 * The `x-amz-meta-file` of a public object. By this header the walk of the bucket finds the row of the object. The CDN strips the header.
 */
export function ownerTag({ accountId, id }: FileRef): string {
  return `${accountId}/${id}`;
}

/** The file that an owner tag names; undefined for a text that is not a tag of ours. */
export function parseOwner(tag: string): FileRef | undefined {
  const [accountId = '', id = '', ...rest] = tag.split('/');
  return isUuid(accountId) && isUuid(id) && rest.length === 0 ? { accountId, id } : undefined;
}
