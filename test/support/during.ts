import { expect } from 'vitest';
import type { Fault, FaultHandle } from '../../local-aws/aws-front/faults.ts';
import type { TestService } from './service.ts';

/** Does something while AWS has a fault, which has to apply to at least one call. It is removed even if that fails. */
export async function during<Result>(
  { front }: Pick<TestService, 'front'>,
  fault: Fault,
  run: (fault: FaultHandle) => Promise<Result>,
): Promise<Result> {
  const handle = front.faults.add(fault);
  const result = await run(handle).finally(handle.remove);
  expect(handle.hits).toBeGreaterThan(0);
  return result;
}
