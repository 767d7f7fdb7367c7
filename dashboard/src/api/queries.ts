import { keepPreviousData, type QueryClient, type QueryFilters, queryOptions } from '@tanstack/react-query';
import { hosting } from './client.ts';

export const PAGE_SIZE = 50;

export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => hosting.me({ signal }),
});

/** The query key of every list of files, with any page and search. */
export const FILES = ['files'];

export function filesQuery({ page, search }: { page: number; search: string }) {
  return queryOptions({
    queryKey: [...FILES, { page, search }],
    queryFn: ({ signal }) => hosting.list({ page, limit: PAGE_SIZE, search, signal }),
    // While another page or search loads, the current list stays visible.
    placeholderData: keepPreviousData,
  });
}

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) => hosting.keys.list({ signal }),
});

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => hosting.sessions.list({ signal }),
});

/** A query of something that does not change, which is asked for until it comes: the sooner, the later the connection comes back. */
export function untilLoaded<Data>(queryKey: readonly string[], queryFn: () => Promise<Data>) {
  return queryOptions({
    queryKey,
    queryFn,
    staleTime: Number.POSITIVE_INFINITY,
    retry: true,
    retryDelay: (failures) => Math.min(30_000, 1_000 * 2 ** (failures - 1)),
    // Without a connection, the next attempt waits for the connection.
    networkMode: 'offlineFirst',
  });
}

/**
 * Refetches all matching queries after a change. A first load that is in flight may have begun before the change. Invalidating does not
 * repeat such a load, so the query is fetched again afterwards.
 */
export async function refreshQueries(client: QueryClient, filters: QueryFilters): Promise<void> {
  const loading = client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' });
  const first = loading.filter(({ state }) => state.data === undefined);
  const others = client.invalidateQueries(filters);
  if (first.length > 0) {
    await Promise.allSettled(first.map(({ promise }) => promise));
    await client.invalidateQueries(filters);
  }
  await others;
}
