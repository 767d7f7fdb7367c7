import type { dispatcherFor as dispatcherOfNode } from './proxy.ts';

/** Takes the place of `proxy.ts` in bundles for browsers, which know their proxies themselves (`browser` in `package.json`). */
export const dispatcherFor: typeof dispatcherOfNode = async () => undefined;
