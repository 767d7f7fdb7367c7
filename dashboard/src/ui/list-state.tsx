import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { LoadFailure } from './error-pages.tsx';
import { Loading } from './loading.tsx';
import { messageFor } from './notify.ts';

/** What a page shows beside a short list, or in its place: that it is loading, or why it could not be loaded. */
export function ListState({ query }: { query: UseQueryResult<unknown> }) {
  const { data, error, failureReason, refetch } = query;
  if (error) {
    return (
      <LoadFailure
        words={messageFor(error)}
        error={error}
        isStale={data !== undefined}
        onAction={() => void refetch()}
      />
    );
  }
  return data === undefined ? (
    <>
      <Skeleton height={180} radius="md" />
      <Loading reason={failureReason} />
    </>
  ) : null;
}
