import { chunksOf } from './chunks.ts';
import { FileHostingError, invalid } from './error.ts';
import { openPath, pathOf } from './open-path.ts';

/**
 * What can be uploaded. A string is the path of a file. Paths and `file:` URLs work in Node, Deno and Bun, but not in browsers. (To upload
 * a text, give `new Blob([text])`.)
 */
export type UploadSource =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** Content that can be read again and again. */
export interface Content {
  readonly name: string;
  readonly type: string;
  readonly blob: Blob;
}

/** Content that can be read once. */
export interface StreamContent extends Omit<Content, 'blob'> {
  readonly chunks: AsyncIterator<Uint8Array>;
}

export interface Description {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
}

export const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * @throws FileHostingError `unreadable` when there is no file at the path, or the file cannot be read; `invalid_argument` for a source or a
 *   `type` that cannot be sent.
 */
export async function openSource(source: UploadSource, { name, type }: Description): Promise<Content | StreamContent> {
  if (type !== undefined && !/^[ -~]+$/.test(type)) throw invalid('`type` must be a media type');
  const described = (givenName = '', givenType = '') => ({
    name: name ?? givenName,
    type: type ?? (givenType || UNKNOWN_TYPE),
  });
  if (typeof source === 'string' || source instanceof URL) {
    const path = typeof source === 'string' ? source : await pathOf(source);
    const opened = await openPath(path);
    return {
      ...described(path.split(/[/\\]/).at(-1)),
      ...(opened instanceof Blob ? { blob: opened } : { chunks: bytesOf(opened) }),
    };
  }
  if (source instanceof Blob) return { ...described((source as Partial<File>).name, source.type), blob: source };
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return { ...described(), blob: new Blob([source as ArrayBuffer]) };
  }
  if (typeof source === 'object' && source !== null) {
    if ('getReader' in source) return { ...described(), chunks: chunksOf(source) };
    if (Symbol.asyncIterator in source) return { ...described(), chunks: bytesOf(source) };
  }
  throw invalid('The content must be a path, Blob, stream or bytes');
}

async function* bytesOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const chunk of source) {
    if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) throw invalid('A stream must give bytes or text');
    yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
  }
}

/** @throws FileHostingError `unreadable` when a stream has another size than `expected`. */
export function checkSize(expected: number | undefined, actual: number): void {
  if (expected === undefined || actual === expected) return;
  const what = `The stream has ${actual > expected ? 'more than' : 'only'} ${Math.min(actual, expected)} of ${expected} bytes`;
  throw new FileHostingError('unreadable', { what });
}

/** Reads a stream until it ends or has more than `limit` bytes. */
export async function readStart(
  { chunks }: StreamContent,
  limit: number,
): Promise<{ start: Uint8Array[]; isOver: boolean }> {
  const start: Uint8Array[] = [];
  for (let bytes = 0; bytes <= limit; ) {
    const { done, value } = await chunks.next().catch((cause: unknown) => {
      throw cause instanceof FileHostingError ? cause : new FileHostingError('unreadable', { cause });
    });
    if (done) return { start, isOver: true };
    // A copy, because some streams use their buffer again.
    start.push(value.slice());
    bytes += value.byteLength;
  }
  return { start, isOver: false };
}
