/** One line of JSON a record, on stdout, where CloudWatch and `npm start` read it. */
type Level = 'info' | 'warn' | 'error';

/**
 * Writes one record. Values are JSON, so a file name with line breaks or escape codes cannot forge a line; the caller
 * never passes a key, cookie, token or signed URL.
 */
export function log(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  console.log(JSON.stringify({ level, message, ...fields }));
}

/** An error and its causes in a form for {@link log}: names, messages and the innermost stack. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  const { name, message, stack, cause } = error;
  return cause === undefined
    ? { error: name, detail: message, stack }
    : { error: name, detail: message, cause: describeError(cause) };
}
