import { expect, test, vi } from 'vitest';
import { reportFunction, requestLine } from '../../../infra/local/report.ts';

const REQUEST = { method: 'GET', path: '/api/v1/files', status: 200, bytes: 9, milliseconds: 12.4, requestId: 'r-1' };

test.each([
  [{}, 'GET /api/v1/files 200 12 ms r-1'],
  [{ path: '/uploads/AbCdEfGhIjKlMnOpQrStUvWx/a.txt' }, 'GET /uploads/AbCd…/a.txt 200 12 ms r-1'],
  [
    { path: '/api/v1/files/0198f1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' },
    'GET /api/v1/files/0198f1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b 200 12 ms r-1',
  ],
  [{ status: 502, failure: 'origin gone' }, 'GET /api/v1/files 502 12 ms r-1 (origin gone)'],
])('a request with %j is logged as "%s"', (difference, line) => {
  expect(requestLine({ ...REQUEST, ...difference })).toBe(line);
});

test.each([
  ['{"level":"info","message":"request"}', false],
  ['{"level":"warn","message":"slow"}', true],
  ['{"level":"error","message":"broken"}', true],
  ['not JSON', true],
])("a function's log line %s is printed: %s", (line, isShown) => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  reportFunction({ function: 'F', line });
  expect(written.mock.calls).toEqual(isShown ? [[`F: ${line}`]] : []);
  written.mockRestore();
});
