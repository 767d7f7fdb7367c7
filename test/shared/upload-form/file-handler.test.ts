import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../shared/errors.ts';
import { type FilePart, readUploadForm } from '../../../shared/upload-form/read-upload-form.ts';
import { CONTENT_TYPE, chunksOf, FILE, formOf } from './read-form.ts';

const BODY = formOf(FILE);
const TWO_FILES = formOf(FILE, FILE);
const CUT = BODY.subarray(0, BODY.lastIndexOf('tent'));

/** A source that counts how often it was pulled and closed. */
function counted(chunks: readonly Uint8Array[]) {
  const counts = { pulled: 0, closed: 0 };
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const value = chunks[counts.pulled++];
      return value ? { done: false, value } : { done: true, value: undefined };
    },
    async return() {
      counts.closed++;
      return { done: true, value: undefined };
    },
  };
  return { counts, source: { [Symbol.asyncIterator]: () => iterator } };
}

/** A form in chunks. Its file begins in the first chunk and ends in the fourth. */
const CHUNKS = [
  '--B\r\nContent-Disposition: form-data; filename=a\r\n\r\none',
  'two',
  'three',
  'four\r\n--B--\r\n',
  'epilogue',
].map(Buffer.from);

const drain = async ({ body }: FilePart) => {
  for await (const _piece of body);
  return 'stored';
};
const none = async () => {};

describe('an error of onFile', () => {
  test.each([
    ['before it reads', async () => Promise.reject(new ApiError('file_too_large'))],
    [
      'at once',
      () => {
        throw new ApiError('file_too_large');
      },
    ],
    [
      'while it reads',
      async ({ body }: FilePart) => {
        for await (const _piece of body) throw new ApiError('file_too_large');
      },
    ],
    [
      'when it has read the whole file',
      async ({ body }: FilePart) => {
        for await (const _piece of body);
        throw new ApiError('file_too_large');
      },
    ],
  ])('rejects the form with the same error and discards nothing: %s', async (_, onFile) => {
    let discarded = 0;
    const discard = async () => void discarded++;
    const reading = readUploadForm(chunksOf(BODY, 5), CONTENT_TYPE, { onFile, discard });
    await expect(reading).rejects.toMatchObject({ code: 'file_too_large' });
    expect(discarded).toBe(0);
  });

  test('leaves the source neither drained nor closed, so that the caller can read on', async () => {
    const { source, counts } = counted(CHUNKS);
    const onFile = async ({ body }: FilePart) => {
      for await (const piece of body) if (`${piece}` === 'two') throw new Error('enough');
    };
    await expect(readUploadForm(source, CONTENT_TYPE, { onFile, discard: none })).rejects.toThrow('enough');
    expect(counts).toEqual({ pulled: 2, closed: 0 });
    expect((await Array.fromAsync(source)).join()).toBe('three,four\r\n--B--\r\n,epilogue');
  });
});

describe('when the body is cut', () => {
  test('the iterator of the content throws the same error as the form is rejected with', async () => {
    let thrown: unknown;
    const onFile = (file: FilePart) =>
      drain(file).catch((error) => {
        thrown = error;
        throw error;
      });
    const reading = readUploadForm(chunksOf(CUT), CONTENT_TYPE, { onFile, discard: none });
    const error = await reading.catch((error) => error);
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect(error).toBe(thrown);
  });

  test('the form is rejected with invalid_request, even when onFile wraps the error', async () => {
    const onFile = (file: FilePart) => drain(file).catch((cause) => Promise.reject(new Error('not stored', { cause })));
    const reading = readUploadForm(chunksOf(CUT), CONTENT_TYPE, { onFile, discard: none });
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('the result of onFile is discarded when onFile mistook the error for the end of the content', async () => {
    const discarded: string[] = [];
    const onFile = (file: FilePart) => drain(file).catch(() => 'half');
    const discard = async (stored: string) => void discarded.push(stored);
    const reading = readUploadForm(chunksOf(CUT), CONTENT_TYPE, { onFile, discard });
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
    expect(discarded).toEqual(['half']);
  });
});

describe('when the source throws', () => {
  async function* broken(error: Error) {
    yield* chunksOf(CUT);
    throw error;
  }

  test('a broken connection is a cut body, with its cause for the log', async () => {
    const cause = new Error('aborted');
    const reading = readUploadForm(broken(cause), CONTENT_TYPE, { onFile: drain, discard: none });
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request', cause });
  });

  test('an ApiError of the source is thrown as it is', async () => {
    const reading = readUploadForm(broken(new ApiError('timeout')), CONTENT_TYPE, { onFile: drain, discard: none });
    await expect(reading).rejects.toMatchObject({ code: 'timeout' });
  });

  test('an ApiError of the source is thrown as it is, even when onFile mistakes it for the end of the content', async () => {
    const onFile = (file: FilePart) => drain(file).catch(() => 'half');
    const reading = readUploadForm(broken(new ApiError('timeout')), CONTENT_TYPE, { onFile, discard: none });
    await expect(reading).rejects.toMatchObject({ code: 'timeout' });
  });

  test('the file is discarded even when the source throws after the closing delimiter', async () => {
    const discarded: string[] = [];
    async function* brokenLate() {
      yield BODY;
      throw new Error('aborted');
    }
    const discard = async (stored: string) => void discarded.push(stored);
    const reading = readUploadForm(brokenLate(), CONTENT_TYPE, { onFile: drain, discard });
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
    expect(discarded).toEqual(['stored']);
  });
});

describe('discard', () => {
  test('is awaited before the error is thrown', async () => {
    const events: string[] = [];
    const discard = async () => {
      await new Promise(setImmediate);
      events.push('discarded');
    };
    await readUploadForm(chunksOf(TWO_FILES), CONTENT_TYPE, { onFile: drain, discard }).catch(() =>
      events.push('thrown'),
    );
    expect(events).toEqual(['discarded', 'thrown']);
  });

  test('rejects the form with the error that it throws', async () => {
    const discard = () => Promise.reject(new Error('not discarded'));
    const reading = readUploadForm(chunksOf(TWO_FILES), CONTENT_TYPE, { onFile: drain, discard });
    await expect(reading).rejects.toThrow('not discarded');
  });

  test('is not called for a form that is whole', async () => {
    const discard = () => Promise.reject(new Error('discarded'));
    expect(await readUploadForm(chunksOf(BODY), CONTENT_TYPE, { onFile: drain, discard })).toBe('stored');
  });
});

describe('the content', () => {
  test('is read on demand: no chunk is read before the consumer is done with the previous chunk', async () => {
    const { source, counts } = counted(CHUNKS);
    const pulls: string[] = [];
    const onFile = async ({ body }: FilePart) => {
      pulls.push(`before: ${counts.pulled}`);
      for await (const piece of body) pulls.push(`${piece}: ${counts.pulled}`);
    };
    await readUploadForm(source, CONTENT_TYPE, { onFile, discard: none });
    expect(pulls).toEqual(['before: 1', 'one: 1', 'two: 2', 'three: 3', 'four: 4']);
    expect(counts).toEqual({ pulled: CHUNKS.length + 1, closed: 0 });
  });

  test('is not copied', async () => {
    const { source } = counted(CHUNKS);
    const onFile = async ({ body }: FilePart) => (await Array.fromAsync(body))[1]?.buffer;
    expect(await readUploadForm(source, CONTENT_TYPE, { onFile, discard: none })).toBe(CHUNKS[1]?.buffer);
  });

  test.each<[string, (file: FilePart) => Promise<unknown>]>([
    ['is never read', none],
    [
      'is left after the first piece',
      async ({ body }) => {
        for await (const _piece of body) break;
      },
    ],
    [
      'is pulled ahead and not awaited',
      async ({ body }) => {
        const iterator = body[Symbol.asyncIterator]();
        for (let ahead = 0; ahead < 9; ahead++) void iterator.next();
      },
    ],
  ])('is skipped to its end, and no rejection goes unhandled, when it %s', async (_, onFile) => {
    await readUploadForm(chunksOf(BODY, 3), CONTENT_TYPE, { onFile, discard: none });
    const second = readUploadForm(chunksOf(TWO_FILES, 3), CONTENT_TYPE, { onFile, discard: none });
    await expect(second).rejects.toMatchObject({ message: 'the form has two file parts' });
    const cut = readUploadForm(chunksOf(CUT, 3), CONTENT_TYPE, { onFile, discard: none });
    await expect(cut).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
