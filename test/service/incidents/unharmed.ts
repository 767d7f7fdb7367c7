import { expect } from 'vitest';
import { type Books, readBooks } from '../../support/books.ts';
import type { Operator } from '../../support/operator.ts';
import { rawRequest, sendRaw } from '../../support/raw-http.ts';

/**
 * The service is well, nothing of it has crashed, its books balance, and nobody is still busy with what came before.
 * @returns the books.
 */
export async function expectUnharmed(operator: Operator): Promise<Books> {
  const { logs, urls } = operator.service;
  const health = await sendRaw(urls.root_url, rawRequest('GET /health'));
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok","db":"ok","storage":"ok"}' });
  expect(logs.filter((line) => /^\w+Function (ended|did not start|between two events|\S+ ERROR)/.test(line))).toEqual(
    [],
  );
  // A client that leaves is not waited for: what it sent may be on its way in, and what it leaves behind on its way out.
  const left = async () => {
    const { problems, unfinished } = await readBooks(operator);
    return { problems, unfinished };
  };
  await expect.poll(left).toEqual({ problems: [], unfinished: [] });
  return readBooks(operator);
}
