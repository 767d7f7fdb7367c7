import type { ApiError } from '../errors.ts';
import { describePart, type FileDescription, type PartDescription, partHeaders } from './file-part.ts';
import { FormReader, formBoundary, invalidForm } from './form-reader.ts';

/** Real upload forms have a handful of parts. Each part costs work, however small it is. */
export const PARTS_MAX = 1000;

export interface FilePart extends FileDescription {
  /**
   * The content, to be read once, in pieces as large as the source's chunks. When the body is cut, reading throws the error with which
   * {@link readUploadForm} will reject.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface FileHandler<T> {
  /**
   * Stores the file of the form. While `onFile` runs, the source is read only as fast as `onFile` reads `body`. The rest of `body` that it
   * leaves unread is skipped. Before it rejects, it must clean up after itself.
   */
  readonly onFile: (file: FilePart) => Promise<T>;
  /** Undoes the result of `onFile`, because the rest of the form was bad. */
  readonly discard: (stored: T) => Promise<void>;
}

/**
 * Reads a `multipart/form-data` body (RFC 7578) with one file part under any field name. It needs constant memory, and never reads faster
 * than `onFile` does. Other fields, unselected file inputs, preamble and epilogue are skipped.
 *
 * The file is the part with a file name. If no part has a file name, the file is the only part with a content type other than `text/plain`
 * (decision 0020). Which of the two rules applies may be known only at the end of the form: see {@link FileOfForm}.
 *
 * `onFile` may run before the end of the body is known. So this resolves with the result of `onFile` only after the closing
 * delimiter and the end of the source. When anything fails in between, it first awaits `discard` of that result. If `discard`
 * rejects, this rejects with the error that `discard` throws, because that is a fault of ours.
 *
 * This never closes the source, so that the caller decides what becomes of a refused body. If the source is an iterable that gives the same
 * iterator each time, as generators do, the caller can read on from where this stopped.
 * @param contentType  the `Content-Type` of the whole body.
 * @throws the errors of `onFile`, and an error of the source if it is an ApiError. ApiError `unsupported_media_type` when the body is not
 *   such a form. ApiError `invalid_request` in these cases:
 * - the boundary is absent or illegal;
 * - the form has no file part or two, or more than {@link PARTS_MAX} parts;
 * - a file part is encoded, or a part is a form of its own;
 * - a header block has a line that is not a header, or is longer than PART_HEADERS_MAX_BYTES;
 * - there is more than MULTIPART_FRAMING_MAX_BYTES besides the file;
 * - the body is cut, or the source fails with another error.
 */
export async function readUploadForm<T>(
  source: AsyncIterable<Uint8Array>,
  contentType: string | undefined,
  handler: FileHandler<T>,
): Promise<T> {
  const boundary = formBoundary(contentType);
  const reader = new FormReader(source, boundary);
  const file = new FileOfForm(reader, handler);
  try {
    await reader.skipContent();
    for (let parts = 1; await reader.nextPart(); parts++) {
      if (parts > PARTS_MAX) throw invalidForm('the form has too many parts');
      await file.takePart(describePart(partHeaders(await reader.readHeaders()), boundary));
    }
    await reader.skipEpilogue();
    return await file.atEnd();
  } catch (error) {
    await file.discard();
    // `onFile` may have wrapped the error of `body`, but a cut body is the client's fault, not a failure to store.
    throw reader.failure ?? error;
  }
}

/**
 * Finds the file among the parts of a form, and passes it to `onFile`.
 *
 * A part with a file name is the file, and is passed on as it arrives. A part without a file name may be the file, or a field with a type
 * (`curl -F 'meta={};type=application/json'`). Such a part is held in memory. If a part with a file name follows, the held part is a field.
 * If the form ends, the held part is the file. But as soon as the part becomes larger than a field may be, it is passed on as the file. The
 * result does not depend on the order of the parts.
 */
class FileOfForm<T> {
  readonly #reader: FormReader;
  readonly #handler: FileHandler<T>;
  #held: { readonly part: PartDescription; readonly content: Buffer } | undefined;
  #unnamedParts = 0;
  #stored: { readonly result: T; readonly isNamed: boolean } | undefined;

  constructor(reader: FormReader, handler: FileHandler<T>) {
    this.#reader = reader;
    this.#handler = handler;
  }

  /** Reads the content of a part after its headers. @param part  undefined for a plain field. */
  async takePart(part: PartDescription | undefined): Promise<void> {
    const isUnselected = part?.filename === '' && !(await this.#reader.hasContent());
    if (!part || isUnselected) return this.#reader.skipContent();
    if (part.filename !== undefined) {
      this.#countHeldAsField();
      return this.#store(part, contentOf(this.#reader));
    }
    if (this.#stored?.isNamed) return this.#reader.skipContent();
    if (this.#stored) throw twoFiles();
    this.#unnamedParts += 1;
    if (this.#unnamedParts === 1) return this.#hold(part);
    // When two parts have only a type, neither of them is the file. A part with a file name may still come.
    this.#countHeldAsField();
    return this.#reader.skipContent();
  }

  /** The result of `onFile`, at the end of the form. @throws ApiError `invalid_request` if the form has no file, or two. */
  async atEnd(): Promise<T> {
    if (this.#held) await this.#store(this.#held.part, piecesOf(this.#held.content));
    if (this.#stored) return this.#stored.result;
    throw this.#unnamedParts > 1 ? twoFiles() : invalidForm('the form has no file part');
  }

  /** Undoes what was stored, if anything was. */
  async discard(): Promise<void> {
    if (this.#stored) await this.#handler.discard(this.#stored.result);
  }

  async #hold(part: PartDescription): Promise<void> {
    // The pieces are copied, because a view of a few bytes would keep the whole chunk in memory.
    const memory = Buffer.allocUnsafe(this.#reader.framingLeft);
    let length = 0;
    for (let piece = await this.#reader.readContent(); piece; piece = await this.#reader.readContent()) {
      if (length + piece.length > memory.length) {
        return this.#store(part, contentOf(this.#reader, memory.subarray(0, length), piece));
      }
      length += piece.copy(memory, length);
    }
    this.#held = { part, content: memory.subarray(0, length) };
  }

  #countHeldAsField(): void {
    this.#reader.countFraming(this.#held?.content.length ?? 0);
    this.#held = undefined;
  }

  async #store({ isEncoded, ...part }: PartDescription, content: AsyncGenerator<Uint8Array, undefined>): Promise<void> {
    if (this.#stored) throw twoFiles();
    if (isEncoded) throw invalidForm('the content of the file part is encoded');
    const result = await this.#handler.onFile({ ...part, body: withoutReturn(content) });
    this.#stored = { result, isNamed: part.filename !== undefined };
    for await (const _leftByTheConsumer of content);
  }
}

function twoFiles(): ApiError {
  return invalidForm('the form has two file parts');
}

/** The content of the reader's current part. It begins with `read`, the pieces that were read already. */
async function* contentOf(reader: FormReader, ...read: readonly Buffer[]): AsyncGenerator<Uint8Array, undefined> {
  yield* piecesOf(...read);
  for (let piece = await reader.readContent(); piece; piece = await reader.readContent()) yield piece;
}

async function* piecesOf(...pieces: readonly Buffer[]): AsyncGenerator<Uint8Array, undefined> {
  for (const piece of pieces) if (piece.length > 0) yield piece;
}

/**
 * Passes the pieces to a consumer that may stop early. The iterator has no `return`, so a `break` of the consumer leaves the generator
 * open, and we can read the rest from it. A `next()` that the consumer has not awaited must not end the process when it fails.
 */
function withoutReturn(pieces: AsyncGenerator<Uint8Array, undefined>): AsyncIterable<Uint8Array> {
  const next = () => {
    const piece = pieces.next();
    piece.catch(() => {});
    return piece;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
