import { expect, test, vi } from 'vitest';
import { reportFunction, requestLine } from '../../../infra/local/report.ts';

const REQUEST = { method: 'GET', path: '/api/v1/files', status: 200, bytes: 9, milliseconds: 12.4, requestId: 'r-1' };

test.each([
  ['has method, path, status, time and id', {}, 'GET /api/v1/files 200 12 ms r-1'],
  [
    'shows only the beginning of the token of a link',
    { path: '/uploads/AbCdEfGhIjKlMnOpQrStUvWx/a.txt' },
    'GET /uploads/AbCd…/a.txt 200 12 ms r-1',
  ],
  [
    'shows the id of a file',
    { path: '/api/v1/files/0198f1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' },
    'GET /api/v1/files/0198f1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b 200 12 ms r-1',
  ],
  [
    'ends with the reason of an error',
    { status: 502, failure: 'origin gone' },
    'GET /api/v1/files 502 12 ms r-1 (origin gone)',
  ],
])('the line of a request %s', (_name, difference, line) => {
  expect(requestLine({ ...REQUEST, ...difference })).toBe(line);
});

test.each([
  ['of level info is not printed', '{"level":"info","message":"request"}', false],
  ['of level warn is printed', '{"level":"warn","message":"slow"}', true],
  ['of level error is printed', '{"level":"error","message":"broken"}', true],
  ['that is not JSON is printed', 'not JSON', true],
])('a line of a function %s', (_name, line, isShown) => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {});
  reportFunction({ function: 'F', line });
  expect(written.mock.calls).toEqual(isShown ? [[`F: ${line}`]] : []);
  written.mockRestore();
});
