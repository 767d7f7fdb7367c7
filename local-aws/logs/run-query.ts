import type { LogEvent } from './log-groups.ts';
import { type Aggregate, type Expression, MalformedQuery, type QueryCommand } from './parse-query.ts';

/** The fields of one event, or of one row that `stats` made. */
export type Row = ReadonlyMap<string, string>;

/** The most rows that a query without `limit` returns. Source: CloudWatch Logs API, "StartQuery". */
const LIMIT_DEFAULT = 10_000;

/** An event and the group that it is in. */
export interface QueriedEvent extends LogEvent {
  readonly group: string;
}

/** Runs a query. @returns the fields that it shows, for each event or each group of `stats`, newest events first. */
export function runQuery(commands: readonly QueryCommand[], events: readonly QueriedEvent[]): Row[] {
  let rows = events.toSorted((one, other) => other.timestamp - one.timestamp).map(toRow);
  let shown: readonly string[] = ['@timestamp', '@message'];
  let limit = LIMIT_DEFAULT;
  for (const command of commands) {
    if (command.kind === 'fields') shown = command.fields;
    if (command.kind === 'filter') rows = rows.filter((row) => holds(command.expression, row));
    if (command.kind === 'sort') rows = rows.toSorted((one, other) => compareRows(one, other, command));
    if (command.kind === 'limit') limit = command.count;
    if (command.kind !== 'stats') continue;
    rows = statsOf(rows, command);
    shown = [...command.by, ...command.values.map(({ name }) => name)];
  }
  const pick = (row: Row) => new Map(shown.flatMap((field) => (row.has(field) ? [[field, row.get(field) ?? '']] : [])));
  return rows.slice(0, limit).map(pick);
}

function toRow({ timestamp, message, stream, group }: QueriedEvent): Row {
  const time = new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');
  const own = { '@timestamp': time, '@message': message, '@logStream': stream, '@log': group };
  return new Map([...Object.entries(own), ...discover(message)]);
}

/**
 * The fields of the JSON in an event. Insights discovers them when the whole line is JSON. In the log of a function it also reads the first
 * fragment of JSON in a line. Source: CloudWatch Logs User Guide, "Supported logs and discovered fields".
 */
function discover(message: string): [string, string][] {
  const start = message.indexOf('{');
  if (start < 0) return [];
  try {
    return flatten('', JSON.parse(message.slice(start)));
  } catch {
    return [];
  }
}

function flatten(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, value === null ? '' : String(value)]];
  return Object.entries(value).flatMap(([name, inner]) => flatten(path === '' ? name : `${path}.${name}`, inner));
}

function holds(expression: Expression, row: Row): boolean {
  switch (expression.kind) {
    case 'and':
      return holds(expression.left, row) && holds(expression.right, row);
    case 'or':
      return holds(expression.left, row) || holds(expression.right, row);
    case 'not':
      return !holds(expression.of, row);
    case 'present':
      return row.has(expression.field);
    case 'like':
      return expression.pattern.test(row.get(expression.field) ?? '');
    case 'in':
      return expression.values.includes(row.get(expression.field) ?? '');
    case 'compare':
      return row.has(expression.field) && compares(expression, row.get(expression.field) ?? '');
  }
}

function compares({ operator, value }: Expression & { kind: 'compare' }, found: string): boolean {
  if (operator === '=') return found === value;
  if (operator === '!=') return found !== value;
  const [left, right] = [Number(found), Number(value)];
  if (Number.isNaN(right)) throw new MalformedQuery(`${value} is not a number`);
  return { '<': left < right, '<=': left <= right, '>': left > right, '>=': left >= right }[operator];
}

function compareRows(one: Row, other: Row, { field, isDescending }: QueryCommand & { kind: 'sort' }): number {
  const [left, right] = [one.get(field) ?? '', other.get(field) ?? ''];
  const order = isNumber(left) && isNumber(right) ? Number(left) - Number(right) : left < right ? -1 : +(left > right);
  return isDescending ? -order : order;
}

const isNumber = (text: string) => text !== '' && !Number.isNaN(Number(text));

function statsOf(rows: readonly Row[], { values, by }: QueryCommand & { kind: 'stats' }): Row[] {
  const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map((field) => row.get(field) ?? null)));
  return [...groups.values()].map((members) => {
    const keys = by.map((field) => [field, members[0]?.get(field)] as const).filter(([, value]) => value !== undefined);
    const results = values.map(({ aggregate, field, name }) => [name, aggregateOf(aggregate, field, members)] as const);
    return new Map([...keys, ...results] as [string, string][]);
  });
}

function aggregateOf(aggregate: Aggregate, field: string, rows: readonly Row[]): string {
  const found = rows.flatMap((row) => (field === '*' ? ['1'] : (row.get(field) ?? [])));
  if (aggregate === 'count') return String(found.length);
  // The rows come newest first.
  if (aggregate === 'latest') return found[0] ?? '';
  const isOrdered = aggregate === 'min' || aggregate === 'max';
  if (isOrdered && field === '@timestamp') return found.toSorted().at(aggregate === 'min' ? 0 : -1) ?? '';
  const numbers = found.map(Number).filter((number) => !Number.isNaN(number));
  if (numbers.length === 0) return '';
  if (aggregate === 'sum') return String(numbers.reduce((sum, number) => sum + number, 0));
  return String(aggregate === 'min' ? Math.min(...numbers) : Math.max(...numbers));
}
