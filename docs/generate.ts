import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../functions/routes.ts';
import { clientTypes } from '../shared/contract/client-types.ts';
import { openApiDocument } from '../shared/contract/document.ts';
import { forPrograms } from '../shared/contract/for-programs.ts';
import { readLimits } from '../shared/contract/limits.ts';
import { unnamedBreaks } from './breaks.ts';
import { brokenReferences, DOCUMENTS } from './references.ts';
import { fillTables } from './tables.ts';

/**
 * Writes the parts of the documents that come from the code: the tables between marks, the pages that are generated whole, the OpenAPI
 * document, and the types of the TypeScript client.
 *
 * With `--check` it writes nothing. It fails when one of these parts is out of date, when a document refers to a file, heading or
 * test that does not exist, or when the changelog does not name a change that may break clients of the API.
 */
const ROOT = join(import.meta.dirname, '..');
const OPENAPI = join(import.meta.dirname, 'openapi.json');
const RELEASED = join(import.meta.dirname, 'openapi-released.json');
const CHANGELOG = join(import.meta.dirname, 'changelog.md');
const FOR_PROGRAMS = join(import.meta.dirname, 'for-programs.md');
const CLIENT_TYPES = join(import.meta.dirname, '../clients/typescript/src/types.ts');
// This document has the default limits. A deployment serves a document with its own limits.
const document = openApiDocument(Object.values(ROUTES), readLimits({}));
const filled = Object.fromEntries(
  DOCUMENTS.map((page) => join(ROOT, page)).map((path) => [path, fillTables(readFileSync(path, 'utf8'))]),
);
const pages = {
  ...filled,
  [OPENAPI]: `${JSON.stringify(document, null, 2)}\n`,
  [FOR_PROGRAMS]: forPrograms(Object.values(ROUTES), readLimits({})),
  [CLIENT_TYPES]: clientTypes(document),
};

for (const [path, text] of Object.entries(pages)) {
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (isCurrent) continue;
  if (process.argv.includes('--check')) {
    console.error(`${path} is out of date: run "npm run generate"`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
  }
}

for (const page of process.argv.includes('--check') ? DOCUMENTS : []) {
  for (const reference of brokenReferences(page)) {
    console.error(`${page} refers to ${reference}, which does not exist`);
    process.exitCode = 1;
  }
}

if (process.argv.includes('--check')) {
  const released = JSON.parse(readFileSync(RELEASED, 'utf8'));
  for (const sentence of unnamedBreaks(released, document, readFileSync(CHANGELOG, 'utf8'))) {
    console.error(`docs/changelog.md does not say: \`${sentence}\``);
    process.exitCode = 1;
  }
}
