import type { FileRecord } from '../contract/answers.ts';
import { ApiError } from '../errors.ts';
import { isUuid } from '../ids.ts';
import type { FileRef, FileRow, StoredFile, Ticket } from './file.ts';
import type { FileStore, TicketStore } from './stores.ts';

/** A file as the API shows it. @param cdnUrl  the address that files are served from, without a trailing slash. */
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
 * A name as one path segment. All but RFC 3986's unreserved characters are percent-encoded, so that a link survives every client, shell and
 * chat window. `encodeURIComponent` alone would leave five other characters as they are. (A cleaned name is never `.` or `..`, which
 * clients would remove from the path.)
 */
function pathSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(/[!'()*]/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Reads the row of an id that a client gives; undefined when there is none. An id that is not a UUID is not read. So a client cannot find
 * the account's other rows, such as the leaves of its listing.
 */
export async function findRow(stores: { readonly files: FileStore }, ref: FileRef): Promise<FileRow | undefined> {
  return isUuid(ref.id) ? stores.files.get(ref) : undefined;
}

/** Reads the ticket of an id that a client gives; undefined when there is none. An id that is not a UUID is not read. */
export async function findTicket(stores: { readonly tickets: TicketStore }, ref: FileRef): Promise<Ticket | undefined> {
  return isUuid(ref.id) ? stores.tickets.get(ref) : undefined;
}

export const noSuchFile = () => new ApiError('not_found', { detail: 'the account has no such file' });

/** @throws ApiError `not_found` for an unknown id, an id of another account, an unfinished upload, and a deleted file. */
export async function getFile(stores: { readonly files: FileStore }, ref: FileRef): Promise<StoredFile> {
  const row = await findRow(stores, ref);
  if (row?.state !== 'ready') throw noSuchFile();
  return row;
}
