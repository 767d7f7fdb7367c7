import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { untilLoaded } from '../api/queries.ts';
import { LoadFailure } from './error-pages.tsx';
import { Loading } from './loading.tsx';

/** Replaces what a query that never gives up has not loaded yet: says that it loads, or that an attempt failed and the next one follows. */
export function Attempts<Data>({ query, words }: { query: ReturnType<typeof untilLoaded<Data>>; words: string }) {
  const queryClient = useQueryClient();
  const { failureReason } = useQuery(query);
  if (!failureReason) return <Loading reason={null} />;
  return <LoadFailure words={words} onAction={() => void queryClient.resetQueries({ queryKey: query.queryKey })} />;
}
