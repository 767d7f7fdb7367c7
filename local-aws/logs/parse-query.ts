/**
 * Parses the query language of CloudWatch Logs Insights, as far as the saved queries (`AWS::Logs::QueryDefinition`) and
 * the operator's queries use it. Everything else is an error, as a misspelt query is on AWS.
 * Source: CloudWatch Logs User Guide, "CloudWatch Logs Insights QL query syntax".
 */

export type Expression =
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'present'; readonly field: string }
  | { readonly kind: 'like'; readonly field: string; readonly pattern: RegExp }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly string[] }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Operator; readonly value: string };

type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';

export type Aggregate = 'count' | 'sum' | 'min' | 'max' | 'latest';

export type QueryCommand =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'filter'; readonly expression: Expression }
  | {
      readonly kind: 'stats';
      readonly values: readonly { readonly aggregate: Aggregate; readonly field: string; readonly name: string }[];
      readonly by: readonly string[];
    }
  | { readonly kind: 'sort'; readonly field: string; readonly isDescending: boolean }
  | { readonly kind: 'limit'; readonly count: number };

/** The query is wrong, or uses something that this parser does not know. */
export class MalformedQuery extends Error {}

/** A text in quotes, a regular expression, a field in backquotes, a symbol, or a word. */
const TOKEN =
  /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/(?:[^/\\]|\\.)+\/i?|`[^`]+`|[<>!]=|[=<>(),|[\]*]|[@\w][\w.:@-]*)/y;

/** Parses a query. @throws MalformedQuery. */
export function parseQuery(query: string): QueryCommand[] {
  const reader = new Reader(tokensOf(query));
  const commands: QueryCommand[] = [];
  do commands.push(readCommand(reader));
  while (reader.takeIf('|'));
  if (reader.next !== undefined) throw new MalformedQuery(`unexpected ${reader.next}`);
  return commands;
}

/** The fields of the log that a query reads, without those that the query itself makes. */
export function fieldsOf(commands: readonly QueryCommand[]): string[] {
  const made = new Set<string>();
  const read = new Set<string>();
  const add = (field: string) => field !== '*' && !made.has(field) && read.add(field);
  for (const command of commands) {
    if (command.kind === 'fields') command.fields.forEach(add);
    if (command.kind === 'filter') fieldsIn(command.expression).forEach(add);
    if (command.kind === 'sort') add(command.field);
    if (command.kind !== 'stats') continue;
    for (const { field } of command.values) add(field);
    command.by.forEach(add);
    for (const { name } of command.values) made.add(name);
  }
  return [...read];
}

function fieldsIn(expression: Expression): string[] {
  if ('field' in expression) return [expression.field];
  return expression.kind === 'not' ? fieldsIn(expression.of) : [expression.left, expression.right].flatMap(fieldsIn);
}

function tokensOf(query: string): string[] {
  const tokens: string[] = [];
  const text = query.trimEnd();
  const pattern = new RegExp(TOKEN);
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const token = pattern.exec(text)?.[1];
    if (token === undefined) throw new MalformedQuery(`cannot read ${text.slice(at, at + 20)}`);
    tokens.push(token);
  }
  return tokens;
}

class Reader {
  readonly #tokens: string[];

  constructor(tokens: string[]) {
    this.#tokens = tokens;
  }

  get next(): string | undefined {
    return this.#tokens[0];
  }

  take(): string {
    const token = this.#tokens.shift();
    if (token === undefined) throw new MalformedQuery('the query ends too early');
    return token;
  }

  takeIf(word: string): boolean {
    if (this.next?.toLowerCase() !== word) return false;
    this.#tokens.shift();
    return true;
  }

  require(word: string): void {
    if (!this.takeIf(word)) throw new MalformedQuery(`expected ${word} before ${this.next ?? 'the end'}`);
  }

  field(): string {
    const token = this.take();
    if (/^`.+`$/.test(token)) return token.slice(1, -1);
    // Without backquotes a minus would be a subtraction.
    if (!/^[@\w][\w.@]*$/.test(token)) throw new MalformedQuery(`${token} is not a field`);
    return token;
  }

  value(): string {
    const token = this.take();
    if (/^["'].*["']$/s.test(token)) return token.slice(1, -1).replace(/\\(.)/gs, '$1');
    if (/^\d+(\.\d+)?$/.test(token)) return token;
    throw new MalformedQuery(`${token} is neither a text in quotes nor a number`);
  }

  list<Item>(read: () => Item): Item[] {
    const items = [read()];
    while (this.takeIf(',')) items.push(read());
    return items;
  }
}

function readCommand(reader: Reader): QueryCommand {
  const name = reader.take().toLowerCase();
  if (name === 'fields' || name === 'display') return { kind: 'fields', fields: reader.list(() => reader.field()) };
  if (name === 'filter') return { kind: 'filter', expression: readOr(reader) };
  if (name === 'stats') return readStats(reader);
  if (name === 'sort') {
    const field = reader.field();
    const isDescending = !reader.takeIf('asc') && (reader.takeIf('desc') || true);
    return { kind: 'sort', field, isDescending };
  }
  if (name === 'limit') return { kind: 'limit', count: Number(reader.value()) };
  throw new MalformedQuery(`there is no command ${name}`);
}

const AGGREGATES: ReadonlySet<string> = new Set<Aggregate>(['count', 'sum', 'min', 'max', 'latest']);

function readStats(reader: Reader): QueryCommand {
  const values = reader.list(() => {
    const aggregate = reader.take().toLowerCase();
    if (!AGGREGATES.has(aggregate)) throw new MalformedQuery(`there is no function ${aggregate}`);
    reader.require('(');
    const field = reader.takeIf('*') ? '*' : reader.field();
    reader.require(')');
    const name = reader.takeIf('as') ? reader.field() : `${aggregate}(${field})`;
    return { aggregate: aggregate as Aggregate, field, name };
  });
  return { kind: 'stats', values, by: reader.takeIf('by') ? reader.list(() => reader.field()) : [] };
}

function readOr(reader: Reader): Expression {
  let left = readAnd(reader);
  while (reader.takeIf('or')) left = { kind: 'or', left, right: readAnd(reader) };
  return left;
}

function readAnd(reader: Reader): Expression {
  let left = readTerm(reader);
  while (reader.takeIf('and')) left = { kind: 'and', left, right: readTerm(reader) };
  return left;
}

function readTerm(reader: Reader): Expression {
  if (reader.takeIf('not')) return { kind: 'not', of: readTerm(reader) };
  if (reader.takeIf('(')) {
    const inner = readOr(reader);
    reader.require(')');
    return inner;
  }
  if (reader.takeIf('ispresent')) {
    reader.require('(');
    const field = reader.field();
    reader.require(')');
    return { kind: 'present', field };
  }
  const field = reader.field();
  if (reader.takeIf('not')) return { kind: 'not', of: readTest(reader, field) };
  return readTest(reader, field);
}

function readTest(reader: Reader, field: string): Expression {
  if (reader.takeIf('like')) return { kind: 'like', field, pattern: readPattern(reader) };
  if (reader.takeIf('in')) {
    reader.require('[');
    const values = reader.list(() => reader.value());
    reader.require(']');
    return { kind: 'in', field, values };
  }
  const operator = reader.take();
  if (!/^([<>]=?|!?=)$/.test(operator)) throw new MalformedQuery(`there is no operator ${operator}`);
  return { kind: 'compare', field, operator: operator as Operator, value: reader.value() };
}

function readPattern(reader: Reader): RegExp {
  const regex = /^\/(.+)\/(i?)$/s.exec(reader.next ?? '');
  if (!regex) return new RegExp(reader.value().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  reader.take();
  return new RegExp(regex[1] ?? '', regex[2]);
}
