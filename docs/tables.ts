import { resultsTable } from '../bench/results.ts';
import { ROUTES } from '../functions/routes.ts';
import { BACKGROUND_ENTRIES, UNKNOWN_ROUTE_ENTRY, UPLOAD_STREAM_ENTRY } from '../infra/bundle/entries.ts';
import { ALARMS } from '../infra/operations/alarm-list.ts';
import { OUTPUTS } from '../infra/settings/outputs.ts';
import { SETTINGS } from '../infra/settings/stage.ts';
import { COMMANDS, EXIT_CODES, OPTIONS, usageOf } from '../operator/admin/commands.ts';
import { ERRORS } from '../shared/contract/errors.ts';
import { CONFIGURABLE_LIMITS } from '../shared/contract/limits.ts';
import type { Route } from '../shared/route.ts';
import { TABLES, type TableDefinition, type TableName } from '../shared/tables.ts';
import { SOAK_OPTIONS } from '../test/support/soak-options.ts';
import { LAYOUT_VERSION, ROW_SHAPES } from './architecture/row-shapes.ts';
import { LOOKS, PAGES, screenshotFile } from './screenshots/pages.ts';

/** The tables of the API's page and of the screenshots, each made from the object that the code itself reads, so that no figure is typed by hand. */
const TABLES_OF_API: Readonly<Record<string, () => string>> = {
  routes: () =>
    table(
      ['Method', 'Path', 'Credential', 'Counted as', 'Purpose'],
      Object.values<Route>(ROUTES).map(({ method, path, access, rateClass, purpose }) => [
        method,
        `\`${path}\``,
        { public: 'none', session: 'session', 'key-or-session': 'API key or session' }[access],
        rateClass ? `\`${rateClass}\`` : 'not counted',
        purpose,
      ]),
    ),
  errors: () =>
    table(
      ['Status', '`error`', 'Meaning'],
      Object.entries(ERRORS).map(([code, { status, meaning }]) => [String(status), `\`${code}\``, meaning]),
    ),
  screenshots: () =>
    table(
      ['Page', ...LOOKS.map(({ name }) => name.replace('-', ', '))],
      PAGES.map(({ name, title }) => [
        title,
        ...LOOKS.map((look) => {
          const file = screenshotFile(name, look.name);
          return `[<img src="${file}" alt="${title}, ${look.name}" height="160">](${file})`;
        }),
      ]),
    ),
  limits: () =>
    table(
      ['Variable', 'Default', 'Meaning'],
      Object.entries(CONFIGURABLE_LIMITS).map(([name, limit]) => [
        `\`${name}\``,
        limit.default.toLocaleString('en-US'),
        limit.meaning,
      ]),
    ),
};

/** The tables of docs/operate.md. */
const TABLES_OF_OPERATION: Readonly<Record<string, () => string>> = {
  commands: () =>
    table(
      ['Command', 'What it does'],
      Object.entries(COMMANDS).map(([name, command]) => [code(usageOf(name, command)), command.meaning]),
    ),
  options: () =>
    table(
      ['Option', 'Meaning'],
      Object.entries(OPTIONS).map(([option, meaning]) => [code(option), meaning]),
    ),
  settings: () =>
    table(
      ['Setting', 'Values', 'Meaning'],
      Object.entries(SETTINGS).map(([name, { values, meaning }]) => [code(name), values, meaning]),
    ),
  outputs: () =>
    table(
      ['Output', 'Stack', 'Meaning'],
      Object.entries(OUTPUTS).map(([name, { stack, meaning }]) => [code(name), stack, meaning]),
    ),
  exits: () => table(['Exit code', 'Meaning'], Object.entries(EXIT_CODES)),
  restorable: () =>
    table(
      ['Table', 'TTL attribute'],
      (Object.entries(TABLES) as [TableName, TableDefinition][]).map(([name, { ttl }]) => [
        code(name),
        ttl === undefined ? 'none' : code(ttl),
      ]),
    ),
};

/** The table of test/README.md. */
const TABLES_OF_TESTS: Readonly<Record<string, () => string>> = {
  soak: () =>
    table(
      ['Variable', 'What the soak does besides', 'Takes'],
      Object.entries(SOAK_OPTIONS).map(([name, { value, adds, takes = '' }]) => [
        code(`${name}=${value}`),
        adds,
        takes,
      ]),
    ),
};

/** The table of docs/alarms.md. */
const TABLES_OF_ALARMS: Readonly<Record<string, () => string>> = {
  alarms: () =>
    table(
      ['Alarm', '', 'What it means'],
      Object.entries(ALARMS).map(([name, { urgency, meaning }]) => [
        `[${name}](#${name.toLowerCase()})`,
        urgency,
        meaning,
      ]),
    ),
};

/** The reference pages of docs/architecture/. */
const TABLES_OF_ARCHITECTURE: Readonly<Record<string, () => string>> = {
  functions: () =>
    table(
      ['Called by', 'File'],
      [
        ...Object.values<Route>(ROUTES).map(({ method, path, entry }) => [`${method} ${code(path)}`, code(entry)]),
        ['every other path and method', code(UNKNOWN_ROUTE_ENTRY)],
        [`POST ${code(ROUTES.uploadFile.path)} with a form over 4 MiB or without a length`, code(UPLOAD_STREAM_ENTRY)],
        ['S3 "Object Created" under `incoming/`', code(BACKGROUND_ENTRIES.completeArrivedUpload)],
        ['the clock, every minute', code(BACKGROUND_ENTRIES.sweep)],
        ['the clock, every five minutes', code(BACKGROUND_ENTRIES.canary)],
      ],
    ),
  rows: () => [`Layout ${LAYOUT_VERSION}.`, ...(Object.keys(TABLES) as TableName[]).map(rowsOf)].join('\n\n'),
};

/** A table of DynamoDB: its keys and indexes in a sentence, then the attributes of each kind of row. */
function rowsOf(name: TableName): string {
  const { partitionKey, sortKey, localIndexes = {}, globalIndexes = {} }: TableDefinition = TABLES[name];
  const keys = [partitionKey, ...(sortKey ? [sortKey] : [])].map((key) => code(key.name)).join(', ');
  const indexes = Object.entries({ ...localIndexes, ...globalIndexes }).map(
    ([index, { partitionKey: from, sortKey: by }]) => `index ${code(index)} (${code(from.name)}, ${code(by.name)})`,
  );
  const shapes = ROW_SHAPES.filter((shape) => shape.table === name);
  const rows = shapes.flatMap(({ kind, key, attributes }) => [
    [
      `**${kind}**`,
      '',
      Object.entries(key)
        .map(([attribute, { shown }]) => `${code(attribute)}: ${shown}`)
        .join(', '),
    ],
    ...Object.entries(attributes).map(([attribute, [type, meaning]]) => [code(attribute), type, meaning]),
  ]);
  const heading = `**${name}**: key ${[keys, ...indexes].join('; ')}.`;
  return `${heading}\n\n${table(['Attribute', 'Type', 'Meaning'], rows)}`;
}

/** Every generated table, by the name that its mark in a document gives. */
export const TABLES_OF_DOCUMENTS: Readonly<Record<string, () => string>> = {
  ...TABLES_OF_API,
  ...TABLES_OF_OPERATION,
  measured: resultsTable,
  ...TABLES_OF_TESTS,
  ...TABLES_OF_ALARMS,
  ...TABLES_OF_ARCHITECTURE,
};

/** Text as code in a cell. Bars are escaped, because a bar would end the cell, even in code. */
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/**
 * A document with every `<!-- table: name -->` … `<!-- end -->` block filled in again.
 * @throws Error when it names a table that does not exist.
 */
export function fillTables(document: string): string {
  return document.replaceAll(/(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g, (_block, open, name, close) => {
    const make = TABLES_OF_DOCUMENTS[name];
    if (!make) throw new Error(`there is no table "${name}"`);
    return `${open}${make()}\n${close}`;
  });
}
