import { describeError, log } from '../log.ts';

/**
 * Does work while a function loads: after all its modules are loaded, and before Lambda's runtime asks for the first event. If the work
 * fails, the first request only takes a little longer.
 */
export function warmUp(step: () => Promise<void>): void {
  Promise.resolve()
    .then(step)
    .catch((error) => log('warn', 'not warmed up', describeError(error)));
}
