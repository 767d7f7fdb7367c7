import { expect } from 'vitest';
import { type Books, readBooks } from '../../support/books.ts';
import type { Operator } from '../../support/operator.ts';
import { rawRequest, sendRaw } from '../../support/raw-http.ts';

/**
 * Expects that the service is healthy, that no function has crashed, that the books balance, and that no work is left.
 * @returns the books.
 */
export async function expectUnharmed(operator: Operator): Promise<Books> {
  const { logs, urls } = operator.service;
  const health = await sendRaw(urls.root_url, rawRequest('GET /health'));
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok","db":"ok","storage":"ok"}' });
  expect(logs.filter((line) => /^\w+Function (ended|did not start|between two events|\S+ ERROR)/.test(line))).toEqual(
    [],
  );
  // After a client disconnects, the service may still be storing or removing what it sent.
  const left = async () => {
    const { problems, unfinished } = await readBooks(operator);
    return { problems, unfinished };
  };
  await expect.poll(left).toEqual({ problems: [], unfinished: [] });
  return readBooks(operator);
}
