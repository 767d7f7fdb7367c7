import type { StoredFile } from './file.ts';

/** A file as the API shows it (contract, section 2): always these six fields. */
export interface FileRecord {
  readonly id: string;
  readonly name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly url: string;
  readonly created_at: string;
}

/** @param cdnUrl  the address files are served from, without a trailing slash. */
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
