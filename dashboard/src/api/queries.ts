import { keepPreviousData, type QueryClient, type QueryFilters, queryOptions } from '@tanstack/react-query';
import type { ApiKey, FilesPage, Profile } from '../../../shared/answers.ts';
import { request } from './request.ts';

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

/**
 * Brings all that matches up to date with what has just changed. What loads for the first time was asked for before the change
 * and is not asked for anew while it is on its way: so it is asked for again when it has come.
 */
export async function askAnew(client: QueryClient, filters: QueryFilters): Promise<void> {
  const loading = client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' });
  const first = loading.filter(({ state }) => state.data === undefined);
  const others = client.invalidateQueries(filters);
  if (first.length > 0) {
    await Promise.allSettled(first.map(({ promise }) => promise));
    await client.invalidateQueries(filters);
  }
  await others;
}
