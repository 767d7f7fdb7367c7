import { ApiError } from '../errors.ts';
import { JSON_BODY_MAX_BYTES } from '../limits.ts';
import { type ApiEvent, bodyBytes, header } from './event.ts';

/** True when the request says that its body is JSON; parameters such as a charset do not matter. */
export function isJson(event: ApiEvent): boolean {
  return mediaTypeOf(event) === 'application/json';
}

/** The media type of the request without its parameters, lower-cased; empty when the header is absent. */
export function mediaTypeOf(event: ApiEvent): string {
  return (header(event, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/**
 * The body as a JSON object.
 * @throws ApiError `unsupported_media_type`, `file_too_large` (over {@link JSON_BODY_MAX_BYTES}) or `invalid_request`.
 */
export function jsonBody(event: ApiEvent): Readonly<Record<string, unknown>> {
  if (!isJson(event)) throw new ApiError('unsupported_media_type');
  const bytes = bodyBytes(event);
  if (bytes.length > JSON_BODY_MAX_BYTES) throw new ApiError('file_too_large');
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('invalid_request');
  return value as Record<string, unknown>;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ApiError('invalid_request', { cause });
  }
}
