import { expect } from 'vitest';

/** Compares whole buffers. Vitest compares them byte by byte, which takes a second for each megabyte. */
function areEqualBuffers(one: unknown, other: unknown): boolean | undefined {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined;
}

/** Marks the process when its `expect` compares buffers in this way, because all test files of a process share one `expect`. */
const IN_USE = Symbol.for('file-hosting: compare-buffers');
if (!Object.hasOwn(globalThis, IN_USE)) {
  Object.defineProperty(globalThis, IN_USE, { value: true });
  expect.addEqualityTesters([areEqualBuffers]);
}
