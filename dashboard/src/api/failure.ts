import { type ErrorCode, FileHostingError } from '../../../clients/typescript/src/index.ts';

/**
 * The reason why a request failed. `day_used_up`: the account has used up its bytes of the day. The dashboard shows this at once and
 * does not wait, because the wait may take hours.
 */
export type FailureCode = ErrorCode | 'day_used_up';

/** The reason for an error of the client. Any other error is one of the dashboard itself, an `internal_error`. */
export function failureOf(error: unknown): FailureCode {
  if (!(error instanceof FileHostingError)) return 'internal_error';
  return error.code === 'rate_limit_exceeded' && !error.isTemporary ? 'day_used_up' : error.code;
}
