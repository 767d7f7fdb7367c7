import { expect, test } from 'vitest';
import { type Call, isLinearizable, type Sequential } from './linearizability.ts';

/** A register, as in the literature: `write` sets it, `read` gives it. */
const register: Sequential<number, { readonly write: number } | 'read', number | 'done'> = {
  initial: 0,
  next(state, input, output) {
    if (input !== 'read') return input.write;
    return output === undefined || output === state ? state : undefined;
  },
};
type RegisterCall = Call<{ readonly write: number } | 'read', number | 'done'>;

const write = (value: number, begunAt: number, endedAt: number): RegisterCall => ({
  input: { write: value },
  output: endedAt === Number.POSITIVE_INFINITY ? undefined : 'done',
  begunAt,
  endedAt,
});
const read = (output: number, begunAt: number, endedAt: number): RegisterCall => ({
  input: 'read',
  output,
  begunAt,
  endedAt,
});
const NEVER = Number.POSITIVE_INFINITY;

test.for<[name: string, calls: RegisterCall[], isRight: boolean]>([
  ['nothing', [], true],
  ['a read of what was written', [write(1, 0, 1), read(1, 2, 3)], true],
  ['a stale read', [write(1, 0, 1), read(0, 2, 3)], false],
  ['a read of what nobody wrote', [write(1, 0, 1), read(2, 2, 3)], false],
  ['a read of what is written later', [read(1, 0, 1), write(1, 2, 3)], false],
  ['a read beside a write that sees it', [write(1, 0, 3), read(1, 1, 2)], true],
  ['a read beside a write that does not see it', [write(1, 0, 3), read(0, 1, 2)], true],
  ['reads that go back in time', [write(1, 0, 7), read(1, 1, 2), read(0, 3, 4)], false],
  [
    'two reads that see two writes in different orders',
    [write(1, 0, 1), write(2, 2, 3), read(2, 4, 5), read(1, 6, 7)],
    false,
  ],
  ['a lost write', [write(1, 0, 2), write(2, 1, 3), read(0, 4, 5)], false],
  ['either of two writes at once', [write(1, 0, 2), write(2, 1, 3), read(1, 4, 5)], true],
  ['a write of unknown outcome that happened', [write(1, 0, NEVER), read(0, 1, 2), read(1, 3, 4)], true],
  ['a write of unknown outcome that did not happen', [write(1, 0, NEVER), read(0, 1, 2)], true],
  [
    'a write of unknown outcome that happened and was undone',
    [write(1, 0, NEVER), read(1, 1, 2), read(0, 3, 4)],
    false,
  ],
  ['a write of unknown outcome that happened before it began', [read(1, 0, 1), write(1, 2, NEVER)], false],
])('the checker judges %s', ([, calls, isRight]) => {
  expect(isLinearizable(calls, register)).toBe(isRight);
  expect(isLinearizable(calls.toReversed(), register)).toBe(isRight);
});

test('the checker judges 24 calls of four clients', () => {
  const calls = Array.from({ length: 24 }, (_, index) => write(index, index * 2, index * 2 + 8.5));
  expect(isLinearizable([...calls, read(23, 200, 201)], register)).toBe(true);
  expect(isLinearizable([...calls, read(0, 200, 201)], register)).toBe(false);
});
