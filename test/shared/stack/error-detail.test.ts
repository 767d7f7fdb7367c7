import type { Context } from 'aws-lambda';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../shared/errors.ts';
import type { ApiEvent } from '../../../shared/http/request.ts';
import { routeStack } from '../../../shared/stack/route-stack.ts';

const event = {
  headers: {},
  multiValueHeaders: {},
  requestContext: { requestId: 'r', identity: {} },
} as unknown as ApiEvent;
const context = { getRemainingTimeInMillis: () => 20_000 } as Context;

async function detailOf(error: Error): Promise<unknown> {
  vi.stubEnv('STAGE', 'local');
  const logged = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const answer = await routeStack({ name: 'getFile' }, [], () => Promise.reject(error))(event, context);
  logged.mockRestore();
  return answer.headers?.['Error-Detail'];
}

test.each([
  ['of 200 characters whole', 'x'.repeat(200), 'x'.repeat(200)],
  ['of 201 characters without the last', `${'x'.repeat(200)}y`, 'x'.repeat(200)],
  ['with other characters as question marks', 'a\r\nX-Forged: é\u0000\u007f~', 'a??X-Forged: ???~'],
  ['of no characters not at all', '', undefined],
] as const)('Error-Detail has a detail %s', async (_, detail, header) => {
  expect(await detailOf(new ApiError('not_found', { detail }))).toBe(header);
});

test.each<[string, Error, string | undefined]>([
  ['only numbers', new ApiError('not_found', { facts: { bytes: 2, limit_bytes: 1 } }), 'bytes=2; limit_bytes=1'],
  ['a failure of ours', new ApiError('service_unavailable', { detail: 'a table' }), undefined],
  ['what is no error of the API', new Error('/a/path'), undefined],
])('Error-Detail of %s', async (_, error, header) => {
  expect(await detailOf(error)).toBe(header);
});
