const CR = 0x0d;

/** How much white space a delimiter line may carry ("transport padding", RFC 2046); a longer line is content. */
const PADDING_MAX_BYTES = 256;

/** A whole delimiter line, from behind the boundary: the last delimiter has two more dashes. */
const DELIMITER_LINE = /^(--)?[ \t]*(?=\r\n)/;
/** The beginning of one, of which the rest may still come. */
const DELIMITER_LINE_BEGUN = /^(?:-|(?:--)?[ \t]*\r?)$/;
/** At the end of the body the last delimiter needs no line break behind it. */
const LAST_DELIMITER_AT_END = /^--[ \t]*\r?$/;

/** What a look at the unread bytes showed. */
export interface Sight {
  /** So many bytes at the front are content for certain. */
  readonly contentBytes: number;
  /** The delimiter behind them, if a whole one is there. */
  readonly delimiter?: { readonly bytes: number; readonly isLast: boolean };
}

/**
 * Looks for the first delimiter: CRLF, `--`, the boundary, white space, and CRLF (which is not counted to it, since it
 * may at once be the CRLF that opens the next delimiter or ends the part's empty header block). A boundary with other
 * characters behind it is content, and so are lines that end in a bare LF or CR: a file may hold them.
 * @param marker  CRLF, `--` and the boundary.
 * @param isAtEnd  true when nothing comes behind `unread`.
 */
export function findDelimiter(unread: Buffer, marker: Buffer, isAtEnd: boolean): Sight {
  for (let at = unread.indexOf(marker); at >= 0; at = unread.indexOf(marker, at + 1)) {
    const start = at + marker.length;
    const line = unread.toString('latin1', start, Math.min(start + PADDING_MAX_BYTES, unread.length));
    const isLastAtEnd = isAtEnd && LAST_DELIMITER_AT_END.test(line);
    const whole = isLastAtEnd ? line : DELIMITER_LINE.exec(line)?.[0];
    if (whole !== undefined) {
      return { contentBytes: at, delimiter: { bytes: marker.length + whole.length, isLast: whole.startsWith('--') } };
    }
    if (line.length < PADDING_MAX_BYTES && DELIMITER_LINE_BEGUN.test(line)) return { contentBytes: at };
  }
  return { contentBytes: markerBegun(unread, marker) };
}

/** Where a marker begins of which the rest may still come; the length of `unread` when none does. */
function markerBegun(unread: Buffer, marker: Buffer): number {
  let at = unread.indexOf(CR, Math.max(0, unread.length - marker.length + 1));
  while (at >= 0 && !unread.subarray(at).equals(marker.subarray(0, unread.length - at)))
    at = unread.indexOf(CR, at + 1);
  return at < 0 ? unread.length : at;
}
