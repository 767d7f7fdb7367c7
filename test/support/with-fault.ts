import { expect } from 'vitest';
import type { Fault, FaultHandle } from '../../local-aws/service.ts';
import type { TestService } from './service.ts';

/** Runs `run` while AWS has a fault, and removes the fault in any case. Expects that the fault applied to at least one call. */
export async function withFault<Result>(
  { front }: Pick<TestService, 'front'>,
  fault: Fault,
  run: (fault: FaultHandle) => Promise<Result>,
): Promise<Result> {
  const handle = front.faults.add(fault);
  const result = await run(handle).finally(handle.remove);
  expect(handle.hits).toBeGreaterThan(0);
  return result;
}
