import type { LogLine } from './log-store.ts';

/** A line of a log: its time, and its fields as text, or the whole line if it has no fields. */
export type LogRow = Readonly<Record<string, string>>;

export function rowOf({ time, message }: LogLine): LogRow {
  const record = recordIn(message);
  if (record === undefined) return { '@timestamp': time, '@message': message };
  const { level: _, ...fields } = record;
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return { '@timestamp': time, ...Object.fromEntries(texts) };
}

/**
 * The record in a line. Lambda begins the lines of functions with a time and a request id. It wraps the lines of a Web Function, as a text or
 * as an object, in a record of its own.
 */
function recordIn(line: string): Record<string, unknown> | undefined {
  const start = line.indexOf('{');
  if (start < 0) return undefined;
  try {
    const record = JSON.parse(line.slice(start)) as Record<string, unknown>;
    const { message } = record;
    if (typeof message === 'object' && message !== null) return message as Record<string, unknown>;
    return (typeof message === 'string' && recordIn(message)) || record;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
