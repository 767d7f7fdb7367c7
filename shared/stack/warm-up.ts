import { describeError, log } from '../log.ts';

/**
 * Does work ahead while a function loads: when all its modules are there, and before Lambda's runtime asks for the first event.
 * When it fails, the first request takes a little longer; no more.
 */
export function warmUp(step: () => Promise<void>): void {
  Promise.resolve()
    .then(step)
    .catch((error) => log('warn', 'not warmed up', describeError(error)));
}
