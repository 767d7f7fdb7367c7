import type { FileRecord } from '../answers.ts';
import { ApiError } from '../errors.ts';
import { isUuid } from '../ids.ts';
import type { FileRef, StoredFile } from './file.ts';
import type { FileStore } from './file-store.ts';

/** A file as the API shows it. @param cdnUrl  the address files are served from, without a trailing slash. */
export function toFileRecord(file: StoredFile, cdnUrl: string): FileRecord {
  return {
    id: file.id,
    name: file.name,
    mime_type: file.mimeType,
    size_bytes: file.sizeBytes,
    url: `${cdnUrl}/${file.objectKey}/${pathSegment(file.name)}`,
    created_at: new Date(file.createdAt).toISOString(),
  };
}

/**
 * A name as one path segment: all but RFC 3986's unreserved characters percent-encoded, so that it survives every client,
 * shell and chat window. `encodeURIComponent` leaves five more as they are. (Names are cleaned: none is `.` or `..`.)
 */
function pathSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(/[!'()*]/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * One file.
 * @throws ApiError `not_found` for an unknown id, another account's, and what is not ready or is being deleted: all alike.
 */
export async function getFile(stores: { readonly files: FileStore }, ref: FileRef): Promise<StoredFile> {
  // Other rows of the account, such as the listing counters, have other ids.
  const row = isUuid(ref.id) ? await stores.files.get(ref) : undefined;
  if (row?.state !== 'ready') throw new ApiError('not_found');
  return row;
}
