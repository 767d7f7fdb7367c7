type Level = 'info' | 'warn' | 'error';

/**
 * Writes one record as a line of JSON on stdout, where CloudWatch and `npm start` read it. Because it is JSON, a file name with line breaks
 * or escape codes cannot forge a line. Callers must not pass a key, cookie, token or signed URL.
 *
 * It does not use `console`: Lambda begins the lines of `console` with a time and a request id. Then Logs Insights would find the fields only
 * in log groups with Lambda's own names, and CloudWatch would make no metrics of the record.
 */
export function log(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
}

/** The events of the audit trail: what users and operators did. */
export type AuditEvent =
  | 'login'
  | 'login_refused'
  | 'logout'
  | 'session_ended'
  | 'sessions_ended'
  | 'api_key_created'
  | 'api_key_revoked'
  | 'account_suspended'
  | 'account_restored'
  | 'account_deleted'
  | 'storage_limit_changed'
  | 'file_taken_down'
  | 'books_corrected';

/** Writes one record of the audit trail (decision 0035). */
export function audit(event: AuditEvent, fields: Readonly<Record<string, unknown>>): void {
  log('info', 'audit', { event, ...fields });
}

/** Describes an error and its causes for {@link log}: names, messages and the innermost stack trace. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  const { name, message, stack, cause } = error;
  return cause === undefined
    ? { error: name, detail: message, stack }
    : { error: name, detail: message, cause: describeError(cause) };
}
