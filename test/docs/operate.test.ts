import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../admin/command-line.ts';
import { COMMANDS } from '../../admin/commands.ts';
import { fillTables, TABLES_OF_OPERATION } from '../../docs/tables.ts';
import { operatorParameterName } from '../../infra/stage.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/operate.md'), 'utf8');

test('the page shows every table, as the code has it now', () => {
  expect(fillTables(page)).toBe(page);
  for (const name of Object.keys(TABLES_OF_OPERATION)) expect(page).toContain(`<!-- table: ${name} -->`);
});

test('every command of the page is understood, and every command there is has its example', () => {
  const lines = [...page.matchAll(/^npm run (?:--silent )?admin -- (.+)$/gm)].map(([, line = '']) => line.split(' '));
  const understood = lines.map((args) => parseCommandLine(args)?.command);
  expect(new Set(understood)).toEqual(new Set(Object.values(COMMANDS)));
});

test('the parameter has the name the page says', () => {
  expect(page).toContain(`\`${operatorParameterName('<stage>' as 'prod')}\``);
});
