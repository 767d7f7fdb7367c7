import { expect, test } from 'vitest';
import { recordFaults } from './dynamodb-proxy.ts';

test('a fault that applied to no call fails the check, which names it', () => {
  const faults = recordFaults();
  faults.set((operation) => (operation === 'PutItem' ? 'cut' : undefined));
  expect(faults.choose('GetItem')).toBeUndefined();
  expect(() => faults.assertApplied()).toThrow(/applied to no call: .*PutItem/);
  expect(() => faults.assertApplied()).not.toThrow();
});

test('a fault that applied passes the check even if another fault was set since, and so does a fault that need not apply', () => {
  const faults = recordFaults();
  faults.set(() => 'cut');
  expect(faults.choose('GetItem')).toBe('cut');
  faults.set(() => undefined, { mayNotApply: true });
  expect(() => faults.assertApplied()).not.toThrow();
  expect(faults.choose('GetItem')).toBeUndefined();
});

test('a fault that was removed without having applied fails the check', () => {
  const faults = recordFaults();
  faults.set(() => 'timeout');
  faults.remove();
  expect(faults.choose('GetItem')).toBeUndefined();
  expect(() => faults.assertApplied()).toThrow('applied to no call');
});
