import { ApiError } from '../errors.ts';

/** The body is no form as RFC 7578 and the service's limits have it. @param detail  for the log; the client sees the code. */
export function invalidForm(detail: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', { detail, cause });
}
