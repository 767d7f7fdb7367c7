import { ApiError } from '../errors.ts';
import { headerParameters } from './header-parameters.ts';

/** The body is no form as RFC 7578 and the service's limits have it. @param detail  for the log; the client sees the code. */
export function invalidForm(detail: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', { detail, cause });
}

/** RFC 2046, section 5.1.1: 1 to 70 of these characters, the last one no space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/**
 * The boundary that a form's `Content-Type` names, quoted or not. Clients forget the quotes that characters such as `/`
 * or `=` need, so any legal boundary is taken without them.
 * @throws ApiError `unsupported_media_type` when the header is absent or names another type; `invalid_request` when it
 * names no boundary or an illegal one.
 */
export function formBoundary(contentType: string | undefined): string {
  if (!/^[ \t]*multipart\/form-data[ \t]*(?:;|$)/i.test(contentType ?? '')) {
    throw new ApiError('unsupported_media_type', { detail: 'the body is not multipart/form-data' });
  }
  const boundary = headerParameters(contentType ?? '').get('boundary') ?? '';
  if (!BOUNDARY.test(boundary)) {
    throw invalidForm('the Content-Type has no legal boundary');
  }
  return boundary;
}
