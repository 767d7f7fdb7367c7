import fc from 'fast-check';
import { IS_THOROUGH } from './thorough.ts';

/**
 * The seed of all random examples. In `npm test` it is always the same, so that a change is never red for examples that it did not bring.
 * The soak tries new examples. `SEED` chooses them for both. A failure prints its seed.
 */
export const SEED = Number(process.env.SEED ?? (IS_THOROUGH ? Date.now() % 2 ** 31 : 20_261_125));

fc.configureGlobal({ seed: SEED });
