import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COPIES_AT_ONCE, COPY_PART_BYTES, copyMs, inParts } from '../../../shared/files/parts.ts';

async function* chunksOf(chunks: readonly Uint8Array[]) {
  yield* chunks;
}

async function partsOf(chunks: readonly Uint8Array[], partBytes: number) {
  const parts: { bytes: Buffer; isLast: boolean }[] = [];
  for await (const { bytes, isLast } of inParts(chunksOf(chunks), partBytes)) {
    parts.push({ bytes: Buffer.from(bytes), isLast });
  }
  return parts;
}

test('parts hold all content, and have one length except the last, however the content is chunked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 20 })),
      fc.integer({ min: 1, max: 17 }),
      async (chunks, size) => {
        const content = Buffer.concat(chunks);
        const parts = await partsOf(chunks, size);
        expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(content)).toBe(true);
        expect(parts.map(({ isLast }) => isLast)).toEqual([...parts.slice(1).map(() => false), true]);
        expect(parts).toHaveLength(Math.max(1, Math.ceil(content.length / size)));
        expect(parts.slice(0, -1).every(({ bytes }) => bytes.length === size)).toBe(true);
      },
    ),
  );
});

test('a part stays valid while the next is read, and all parts use two buffers', async () => {
  const buffers = new Set<ArrayBufferLike>();
  let previous: { bytes: Uint8Array; copy: Buffer } | undefined;
  const content = chunksOf(Array.from({ length: 10 }, (_, i) => Buffer.alloc(4, i)));
  for await (const { bytes } of inParts(content, 4)) {
    if (previous) expect(previous.copy.equals(previous.bytes)).toBe(true);
    previous = { bytes, copy: Buffer.from(bytes) };
    buffers.add(bytes.buffer);
  }
  expect(buffers.size).toBe(2);
});

test('short content takes little memory, and long content two parts at most', async () => {
  const memoryOf = async (chunks: readonly Uint8Array[]) => {
    const buffers = new Set<ArrayBufferLike>();
    for await (const { bytes } of inParts(chunksOf(chunks), 1024 * 1024)) buffers.add(bytes.buffer);
    return [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
  };
  expect(await memoryOf([Buffer.from('hello')])).toBeLessThanOrEqual(64 * 1024);
  expect(await memoryOf([Buffer.alloc(300_000)])).toBeLessThanOrEqual(300_000);
  expect(await memoryOf(Array.from({ length: 50 }, () => Buffer.alloc(65_536)))).toBe(2 * 1024 * 1024);
});

test('a part that comes in many pieces is whole, however often its memory has grown', async () => {
  const chunks = Array.from({ length: 7 }, (_, index) => Buffer.alloc(50_000, index + 1));
  const [part] = await partsOf(chunks, 1_000_000);
  expect(part).toEqual({ bytes: Buffer.concat(chunks), isLast: true });
});

const MIB = 1024 * 1024;

test.each([
  [0, 0],
  [16 * MIB, 1_000],
  [COPY_PART_BYTES, 2_000],
  [COPIES_AT_ONCE * COPY_PART_BYTES, 2_000],
  [COPIES_AT_ONCE * COPY_PART_BYTES + 1, 4_000],
  [5_000 * MIB, 14_000],
])('the copy of %i bytes may take %i ms', (sizeBytes, ms) => {
  expect(copyMs(sizeBytes)).toBe(ms);
});
