import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { request } from './request.ts';
import type { ApiKey, FilesPage, Profile } from './types.ts';

export const PAGE_SIZE = 50;

export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => request<Profile>('GET', '/auth/me', { signal }),
});

/** Every list of files, whatever its page and search. */
export const FILES = ['files'];

export function filesQuery({ page, search }: { page: number; search: string }) {
  const parameters = new URLSearchParams({ page: String(page), limit: String(PAGE_SIZE), ...(search && { search }) });
  return queryOptions({
    queryKey: [...FILES, { page, search }],
    queryFn: ({ signal }) => request<FilesPage>('GET', `/files?${parameters}`, { signal }),
    // Turning a page or typing leaves what is there until the next is here.
    placeholderData: keepPreviousData,
  });
}

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: async ({ signal }) => (await request<{ items: readonly ApiKey[] }>('GET', '/api-keys', { signal })).items,
});
