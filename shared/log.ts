type Level = 'info' | 'warn' | 'error';

/**
 * Writes one record as a line of JSON on stdout, where CloudWatch and `npm start` read it. Because it is JSON without control characters, no
 * text in it can forge a line or control a terminal. Callers must not pass a key, cookie, token or signed URL.
 *
 * It does not use `console`: Lambda begins the lines of `console` with a time and a request id. Then Logs Insights would find the fields only
 * in log groups with Lambda's own names, and CloudWatch would make no metrics of the record.
 */
export function log(level: Level, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  const line = JSON.stringify({ level, message, ...fields });
  process.stdout.write(`${line.replace(UNESCAPED, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`);
}

/** The control characters that JSON does not escape. */
const UNESCAPED = /[\x7f-\x9f]/g;

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
