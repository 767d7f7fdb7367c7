import { expect } from 'vitest';

/** Compares buffers at once: byte after byte, as vitest does it, takes a second for each megabyte. */
expect.addEqualityTesters([
  (one: unknown, other: unknown) => (Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : undefined),
]);
