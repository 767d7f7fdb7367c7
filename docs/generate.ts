import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillTables } from './tables.ts';

/** `node docs/generate.ts`: fills the README's tables; a test fails when they are out of date. */
const README = join(import.meta.dirname, '../README.md');
writeFileSync(README, fillTables(readFileSync(README, 'utf8')));
