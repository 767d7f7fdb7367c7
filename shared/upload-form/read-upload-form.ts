import { describeFile, type FileDescription } from './file-part.ts';
import { formBoundary } from './form-boundary.ts';
import { FormReader } from './form-reader.ts';
import { invalidForm } from './invalid-form.ts';
import { partHeaders } from './part-headers.ts';

/** Real upload forms have a handful of parts; each costs work however small it is. */
export const PARTS_MAX = 1000;

export interface FilePart extends FileDescription {
  /**
   * The content, to be read once, in pieces as large as the source's chunks. It throws the error that
   * {@link readUploadForm} is going to reject with when the body is cut.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface FileHandler<T> {
  /**
   * Stores the file of the form. Only what it pulls from `body` is read from the source; what it leaves is passed over.
   * When it rejects, it has cleaned up after itself.
   */
  readonly onFile: (file: FilePart) => Promise<T>;
  /** Undoes what `onFile` resolved with, because the rest of the form turned out bad. */
  readonly discard: (stored: T) => Promise<void>;
}

/**
 * Reads a `multipart/form-data` body (RFC 7578) with one file part under any field name, in constant memory and never
 * faster than `onFile` pulls. Other fields, unselected file inputs, preamble and epilogue are passed over.
 *
 * `onFile` runs before the end of the body is known. So this resolves with its result only after the closing delimiter
 * and the end of the source; when anything fails in between, it first awaits `discard` of that result. If `discard`
 * rejects, so does this, with that error: it is a fault of ours.
 *
 * The source is pulled by hand and never closed, so that the caller decides what becomes of a refused body: an iterable
 * that gives the same iterator each time, as generators do, can be read on from where this stopped.
 * @param contentType  the header of the whole body.
 * @throws whatever `onFile` throws. ApiError `unsupported_media_type` when the body is no such form; `invalid_request`
 * when its boundary is absent or illegal, it has no file part or two, too many parts, a header block over
 * PART_HEADERS_MAX_BYTES, more than MULTIPART_FRAMING_MAX_BYTES besides the file, or is cut: also when the source
 * throws, unless it throws an ApiError, which passes through.
 */
export async function readUploadForm<T>(
  source: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  { onFile, discard }: FileHandler<T>,
): Promise<T> {
  const boundary = formBoundary(contentType);
  const reader = new FormReader(source, boundary);
  let stored: { readonly result: T } | undefined;
  try {
    await reader.skipContent();
    for (let parts = 1; await reader.nextPart(); parts++) {
      if (parts > PARTS_MAX) throw invalidForm('the form has too many parts');
      const file = await nextFile(reader, boundary);
      if (file && stored) throw invalidForm('the form has two file parts');
      if (!file) {
        await reader.skipContent();
        continue;
      }
      const pieces = contentOf(reader);
      stored = { result: await onFile({ ...file, body: lent(pieces) }) };
      for await (const _leftByTheConsumer of pieces);
    }
    await reader.skipEpilogue();
    if (!stored) throw invalidForm('the form has no file part');
    return stored.result;
  } catch (error) {
    if (stored) await discard(stored.result);
    // A consumer may wrap what `body` threw, but a cut body is the client's doing and not a failure to store.
    throw reader.failure ?? error;
  }
}

/** Reads the headers of a part. @returns undefined for a field, and for a file input in which nothing was selected. */
async function nextFile(reader: FormReader, boundary: string): Promise<FileDescription | undefined> {
  const file = describeFile(partHeaders(await reader.readHeaders()), boundary);
  if (file?.filename === '' && !(await reader.hasContent())) return undefined;
  return file;
}

async function* contentOf(reader: FormReader): AsyncGenerator<Uint8Array, undefined> {
  for (let piece = await reader.readContent(); piece; piece = await reader.readContent()) yield piece;
}

/**
 * The pieces for a consumer that may stop early: without `return`, its `break` leaves the generator open, from which the
 * rest is still to be read. A pull it forgot about is queued before ours, and must not end the process when it fails.
 */
function lent(pieces: AsyncGenerator<Uint8Array, undefined>): AsyncIterable<Uint8Array> {
  const next = () => {
    const piece = pieces.next();
    piece.catch(() => {});
    return piece;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
