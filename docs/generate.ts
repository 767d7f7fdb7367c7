import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientTypes } from '../openapi/client-types.ts';
import { openApiDocument } from '../openapi/document.ts';
import { forPrograms } from '../openapi/for-programs.ts';
import { readLimits } from '../shared/limits.ts';
import { contractPage } from './contract/contract-page.ts';
import { growthChart } from './measured/growth-chart.ts';
import { measuredPage } from './measured/measured-tables.ts';
import { brokenReferences, DOCUMENTS } from './references.ts';
import { fillTables } from './tables.ts';

/**
 * `node docs/generate.ts` writes the parts of the documents that come from the code: the tables of the README, CONTRIBUTING.md,
 * `docs/operate.md`, `docs/alarms.md` and `docs/architecture.md`; the pages `docs/contract.md`, `docs/measured.md` and
 * `docs/for-programs.md`; the picture `docs/growth.svg`; the OpenAPI document; and the types of the TypeScript client.
 *
 * With `--check` it writes nothing. It fails when one of these parts is out of date, or when a document refers to a file or heading that
 * does not exist.
 */
const README = join(import.meta.dirname, '../README.md');
const CONTRIBUTING = join(import.meta.dirname, '../CONTRIBUTING.md');
const ARCHITECTURE = join(import.meta.dirname, 'architecture.md');
const OPERATE = join(import.meta.dirname, 'operate.md');
const ALARMS = join(import.meta.dirname, 'alarms.md');
const CONTRACT = join(import.meta.dirname, 'contract.md');
const MEASURED = join(import.meta.dirname, 'measured.md');
const GROWTH = join(import.meta.dirname, 'growth.svg');
const OPENAPI = join(import.meta.dirname, 'openapi.json');
const FOR_PROGRAMS = join(import.meta.dirname, 'for-programs.md');
const CLIENT_TYPES = join(import.meta.dirname, '../clients/typescript/src/types.ts');
// This document has the default limits. A deployment serves a document with its own limits.
const document = openApiDocument(readLimits({}));
const filled = (path: string) => ({ [path]: fillTables(readFileSync(path, 'utf8')) });
const pages = {
  ...filled(README),
  ...filled(CONTRIBUTING),
  ...filled(OPERATE),
  ...filled(ALARMS),
  ...filled(ARCHITECTURE),
  [CONTRACT]: contractPage(),
  [MEASURED]: measuredPage(),
  [GROWTH]: growthChart(),
  [OPENAPI]: `${JSON.stringify(document, null, 2)}\n`,
  [FOR_PROGRAMS]: forPrograms(readLimits({})),
  [CLIENT_TYPES]: clientTypes(document),
};

for (const [path, text] of Object.entries(pages)) {
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (isCurrent) continue;
  if (process.argv.includes('--check')) {
    console.error(`${path} is out of date: run "node docs/generate.ts"`);
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
