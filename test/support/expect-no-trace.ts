import { expect } from 'vitest';
import type { TestAccount, TestService } from './service.ts';

/** Expects that the account's failed uploads left nothing: no file, no usage, no row, no object. */
export async function expectNoTrace(service: TestService, { id, bySession }: TestAccount): Promise<void> {
  const { body } = await bySession.request('GET', '/auth/me');
  expect(body).toMatchObject({ file_count: 0, storage_used_bytes: 0 });
  expect(await service.rowsOf(id)).toEqual([]);
  expect(await service.storedBytes(id)).toBe(0);
}
