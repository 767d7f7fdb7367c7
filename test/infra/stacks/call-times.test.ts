import { expect, test } from 'vitest';
import { ATTEMPTS, CALL_MS } from '../../../shared/aws/call-times.ts';
import { deadlineOf } from '../../../shared/time-limit.ts';
import { synthesized } from '../../support/synthesized.ts';

/** The longest total time that the SDK waits between the attempts of a call. */
const BACKOFF_MS = 1_500;

/** The longest time in milliseconds that a call with all its attempts can take. */
const longest = (call: keyof typeof CALL_MS) => ATTEMPTS * CALL_MS[call] + BACKOFF_MS;

/** The time in milliseconds until the deadline, for every function that makes calls. */
async function workTimes(): Promise<Map<string, number>> {
  const functions = await synthesized('Api', 'AWS::Lambda::Function');
  const streaming = await synthesized('Streaming', 'AWS::Lambda::WebFunctionRevision');
  const seconds = [
    ...functions.map(({ logicalId, Properties }) => [logicalId, Properties.Timeout] as const),
    ...streaming.map(
      ({ logicalId, Properties }) =>
        [logicalId, (Properties.ServiceConfig as { TimeoutSeconds: number }).TimeoutSeconds] as const,
    ),
  ];
  return new Map(
    seconds
      .filter(([name]) => !name.startsWith('UnknownRoute'))
      .map(([name, timeout]) => {
        const invocation = { getRemainingTimeInMillis: () => Number(timeout) * 1_000 };
        return [name, deadlineOf(invocation).deadlineAt - Date.now()];
      }),
  );
}

test('all attempts of every call fit into the time of every function that makes it', async () => {
  const times = await workTimes();
  expect(times.size).toBeGreaterThan(10);
  for (const [name, workMs] of times) {
    const calls = name.includes('UploadStream') ? Object.keys(CALL_MS) : ['database', 'object', 'copy'];
    for (const call of calls as (keyof typeof CALL_MS)[]) expect([name, call, longest(call)]).toSatisfy(fits(workMs));
  }
});

const fits =
  (workMs: number) =>
  ([, , ms]: [string, string, number]) =>
    ms < workMs;
