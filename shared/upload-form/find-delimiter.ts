const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const DASH = 0x2d;

/** How much white space a delimiter line may have ("transport padding", RFC 2046). A line with more is content. */
const PADDING_MAX_BYTES = 256;

/** A delimiter and its length. */
interface Delimiter {
  readonly bytes: number;
  readonly isLast: boolean;
}

/** What is known about the front of the unread bytes. */
export interface ScanResult {
  /** This many bytes at the front are certainly content. */
  readonly contentBytes: number;
  /** The delimiter after them, if all of it is there. */
  readonly delimiter?: Delimiter;
}

/**
 * Finds the first delimiter: CRLF, `--`, the boundary, white space, and CRLF. (The last CRLF is not counted, because it may
 * also begin the next delimiter or end an empty header block.) A boundary followed by other characters is content, and so are
 * lines that end in a bare LF or CR: a file may contain them.
 * @param marker  CRLF, `--` and the boundary.
 * @param isAtEnd  true when nothing comes after `unread`.
 */
export function findDelimiter(unread: Buffer, marker: Buffer, isAtEnd: boolean): ScanResult {
  for (let at = unread.indexOf(marker); at >= 0; at = unread.indexOf(marker, at + 1)) {
    const line = restOfDelimiterLine(unread, at + marker.length, isAtEnd);
    if (line === 'begun') return { contentBytes: at };
    if (line) return { contentBytes: at, delimiter: { ...line, bytes: marker.length + line.bytes } };
  }
  return { contentBytes: markerBegun(unread, marker) };
}

/**
 * Reads the rest of a delimiter line: two dashes if it is the last one, white space, CRLF. It reads byte by byte and stops as early as it
 * can, because a file may be full of boundaries that are not delimiters.
 * @returns `begun` when the rest may still arrive; undefined when the line is content.
 */
function restOfDelimiterLine(unread: Buffer, start: number, isAtEnd: boolean): Delimiter | 'begun' | undefined {
  const isLast = unread[start] === DASH && unread[start + 1] === DASH;
  let end = isLast ? start + 2 : start;
  const paddingEnd = Math.min(end + PADDING_MAX_BYTES, unread.length);
  while (end < paddingEnd && (unread[end] === SPACE || unread[end] === TAB)) end += 1;

  if (unread[end] === CR && unread[end + 1] === LF) return { bytes: end - start, isLast };
  const isCut = end === unread.length || (unread[end] === CR && end + 1 === unread.length);
  // At the end of the body the last delimiter needs no line break after it.
  if (isCut && isLast && isAtEnd) return { bytes: unread.length - start, isLast };
  const isOneDash = unread[end] === DASH && end === start && end + 1 === unread.length;
  return isCut || isOneDash ? 'begun' : undefined;
}

/**
 * Finds a marker that is cut off by the end of `unread`, so that its rest may still arrive.
 * @returns where it begins; the length of `unread` when there is none.
 */
function markerBegun(unread: Buffer, marker: Buffer): number {
  let at = unread.indexOf(CR, Math.max(0, unread.length - marker.length + 1));
  while (at >= 0 && !unread.subarray(at).equals(marker.subarray(0, unread.length - at)))
    at = unread.indexOf(CR, at + 1);
  return at < 0 ? unread.length : at;
}
