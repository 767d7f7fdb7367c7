import type { Flip } from './flip.ts';
import { FLIPS_OF_ANSWERS } from './flips-of-answers.ts';
import { FLIPS_OF_FILES } from './flips-of-files.ts';
import { FLIPS_OF_PEOPLE } from './flips-of-people.ts';
import { FLIPS_OF_UPLOADS } from './flips-of-uploads.ts';

/** At least one for each row of docs/contract/rows.ts. */
export const FLIPS: readonly Flip[] = [...FLIPS_OF_ANSWERS, ...FLIPS_OF_UPLOADS, ...FLIPS_OF_FILES, ...FLIPS_OF_PEOPLE];
