import { FileHostingError } from '../../../clients/typescript/src/index.ts';
import { strings } from '../strings.ts';
import type { FailureCode } from './failure-code.ts';

/** The reason for an error of the client. Any other error is one of the dashboard itself, an `internal_error`. */
export function failureOf(error: unknown): FailureCode {
  if (!(error instanceof FileHostingError)) return 'internal_error';
  return error.code === 'rate_limit_exceeded' && !error.isTemporary ? 'day_used_up' : knownFailure(error.code);
}

/** A code that is newer than the dashboard counts as a failure of the service. */
export const knownFailure = (code: string): FailureCode =>
  Object.hasOwn(strings.failures, code) ? (code as FailureCode) : 'internal_error';
