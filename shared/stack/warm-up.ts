import { describeError, log } from '../log.ts';
import { briefly } from '../time-limit.ts';

/**
 * Makes a read while a function loads, when Lambda gives it a whole processor (decision 0025). For this read, Node compiles the code that
 * every later call uses, and the SDK opens the connection that the first request uses.
 * @returns a promise that never rejects, and resolves within a few seconds. When the read fails, only time is lost: the first request makes
 *   its own calls, and reports their failures.
 */
export async function warmUp(read: () => Promise<unknown>): Promise<void> {
  await briefly(async () => {
    await read();
  }).catch((error) => log('warn', 'not warmed up', describeError(error)));
}
