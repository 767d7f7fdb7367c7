import { expect } from 'vitest';

/** Compares buffers at once: byte after byte, as vitest does it, takes a second for each megabyte. */
function areEqualBuffers(one: unknown, other: unknown): boolean | undefined {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined;
}

/** Marks the process once `expect` compares buffers in this way, because its test files share one `expect`. */
const IN_USE = Symbol.for('file-hosting: compare-buffers');
if (!Object.hasOwn(globalThis, IN_USE)) {
  Object.defineProperty(globalThis, IN_USE, { value: true });
  expect.addEqualityTesters([areEqualBuffers]);
}
