import { faultsOfProduct } from '../files/faults.ts';
import { startWorld } from './world.ts';

/** The one world of a test file, and the faults of its calls. */
export const world = await startWorld();
export const applyFault = await faultsOfProduct();
