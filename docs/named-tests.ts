import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A test that shows a claim: its file, and its name as the source has it, after the name of its group and ` > ` if it is in one. */
export type NamedTest = readonly [file: string, name: string];

/** True if the file has groups and a test of these names. */
export function testExists([file, name]: NamedTest): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'");
  return name.split(' > ').every((part) => ["'", '"', '`'].some((quote) => source.includes(quote + part + quote)));
}
