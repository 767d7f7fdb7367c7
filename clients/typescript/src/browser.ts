import { invalid, NO_PATHS } from './error.ts';
import type * as paths from './open-path.ts';
import type * as proxies from './proxy.ts';

// In bundles for browsers, this module takes the place of those that need Node (`browser` in `package.json`).

/** A browser knows its proxies itself. */
export const dispatcherFor: typeof proxies.dispatcherFor = async () => undefined;

const refuse = async (): Promise<never> => {
  throw invalid(NO_PATHS);
};
export const pathOf: typeof paths.pathOf = refuse;
export const openPath: typeof paths.openPath = refuse;
