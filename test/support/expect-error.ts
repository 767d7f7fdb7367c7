import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../shared/errors.ts';
import type { RawAnswer } from './raw-http.ts';

/** The contract's error and nothing else, from whatever layer. */
export function expectError(
  answer: RawAnswer | undefined,
  code: ErrorCode,
  status: number = ERRORS[code].status,
): void {
  expect({ status: answer?.status, text: answer?.text }).toEqual({ status, text: JSON.stringify({ error: code }) });
  expectErrorHeaders(answer);
}

/** The same from an error page of a distribution: S3 has it, so it has no id of a request of ours. */
export function expectErrorPage(answer: RawAnswer | undefined, code: ErrorCode, status: number): void {
  expect({ status: answer?.status, text: answer?.text }).toEqual({ status, text: JSON.stringify({ error: code }) });
  expect(answer?.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(answer?.headers.get('cache-control')).toBe('no-store');
  expect(answer?.headers.get('x-amz-cf-id')).toMatch(/\S/);
}

/** Some error of the contract's. */
export function expectAnyError(answer: RawAnswer | undefined): void {
  expect(answer?.status).toBeGreaterThanOrEqual(400);
  expect(Object.keys(ERRORS).map((code) => JSON.stringify({ error: code }))).toContain(answer?.text);
  expect(answer?.headers.get('content-type')).toMatch(/^application\/json\b/);
}

function expectErrorHeaders(answer: RawAnswer | undefined): void {
  expect(answer?.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(answer?.headers.get('x-request-id')).toMatch(/\S/);
  expect(answer?.headers.get('cache-control')).toBe('no-store');
}
