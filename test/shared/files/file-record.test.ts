import { expect, test } from 'vitest';
import { toFileRecord } from '../../../shared/files/file-record.ts';

const FILE = {
  accountId: 'a',
  id: '0190b2a0-0000-7000-8000-000000000000',
  name: 'a.txt',
  mimeType: 'text/plain; charset=utf-8',
  sizeBytes: 5,
  objectKey: 'uploads/token',
  createdAt: Date.UTC(2026, 10, 21, 3, 4, 5, 6),
  seq: 7,
  state: 'ready',
};

test('a record has exactly the six fields of the contract', () => {
  expect(toFileRecord(FILE, 'https://cdn.example')).toEqual({
    id: FILE.id,
    name: 'a.txt',
    mime_type: 'text/plain; charset=utf-8',
    size_bytes: 5,
    url: 'https://cdn.example/uploads/token/a.txt',
    created_at: '2026-11-21T03:04:05.006Z',
  });
});

test.each([
  ['a b.txt', 'a%20b.txt'],
  ['100%.txt', '100%25.txt'],
  ['a?b#c&d=e+f.txt', 'a%3Fb%23c%26d%3De%2Bf.txt'],
  ["it's (1)!*.txt", 'it%27s%20%281%29%21%2A.txt'],
  ['ä🎉.txt', '%C3%A4%F0%9F%8E%89.txt'],
  ['-._~', '-._~'],
  ['"<>\\^`{|}', '%22%3C%3E%5C%5E%60%7B%7C%7D'],
])('the link of %s ends in %s, which no URL parser changes', (name, encoded) => {
  const { url } = toFileRecord({ ...FILE, name }, 'https://cdn.example');
  expect(url).toBe(`https://cdn.example/uploads/token/${encoded}`);
  expect(new URL(url).href).toBe(url);
  expect(decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '')).toBe(name);
});
