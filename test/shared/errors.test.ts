import { expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';
import { ApiError, asApiError, isUnavailable, serviceUnavailable } from '../../shared/errors.ts';

test('every error with status 503 has Retry-After, however it is made', () => {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].status === 503);
  for (const error of [serviceUnavailable(), ...codes.map((code) => new ApiError(code))]) {
    expect([error.status, error.headers]).toEqual([503, { 'Retry-After': '1' }]);
  }
});

test('serviceUnavailable keeps cause and detail for the log, and sets Retry-After', () => {
  const cause = new Error('throttled');
  const error = serviceUnavailable({ cause, detail: 'too many slots are taken', retryAfterSeconds: 5 });
  expect(error).toMatchObject({ message: 'too many slots are taken', cause, headers: { 'Retry-After': '5' } });
  expect([isUnavailable(error), isUnavailable(new ApiError('timeout')), isUnavailable(cause)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('an error that shows the client only its code keeps the thrown error for the log', () => {
  const cause = new Error('secret detail');
  expect(asApiError(cause)).toMatchObject({ name: 'ApiError', code: 'internal_error', status: 500, cause });
  const known = new ApiError('not_found');
  expect(asApiError(known)).toBe(known);
  expect(known.headers).toEqual({});
});
