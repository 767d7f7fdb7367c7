import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EDGE_FUNCTIONS } from './edge-functions.ts';
import { PARSERS } from './parsers.ts';
import { REQUESTS } from './requests.ts';

export const TARGETS = Object.entries({ ...PARSERS, ...REQUESTS, ...EDGE_FUNCTIONS });

const fileOf = (name: string) => join(import.meta.dirname, 'fixtures', `${name}.json`);

/** The inputs that were found to be worth trying in every run. */
export function readCorpus(name: string): readonly string[] {
  return existsSync(fileOf(name)) ? JSON.parse(readFileSync(fileOf(name), 'utf8')) : [];
}

export function writeCorpus(name: string, inputs: readonly string[]): void {
  writeFileSync(fileOf(name), `${JSON.stringify(inputs, null, 2)}\n`);
}
