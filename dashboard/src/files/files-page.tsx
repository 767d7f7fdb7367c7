import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Navigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';
import { filesQuery, PAGE_SIZE } from '../api/queries.ts';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { LoadFailure } from '../ui/error-pages.tsx';
import { keepFocus } from '../ui/keep-focus.ts';
import { Loading } from '../ui/loading.tsx';
import { Naming } from '../ui/naming.tsx';
import { messageFor } from '../ui/notify.ts';
import { usePageTitle } from '../ui/use-page-title.ts';
import { ChooseFiles } from '../uploads/choose-files.tsx';
import { DeleteFiles } from './delete-files.tsx';
import { EmptyState } from './empty-state.tsx';
import { FileDetails } from './file-details.tsx';
import { FileTable } from './file-table.tsx';
import styles from './files-page.module.css';
import { Pages, toPage } from './pages.tsx';
import { SearchField } from './search-field.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { StorageMeter } from './storage-meter.tsx';
import { useSelection } from './use-selection.ts';

const words = strings.files;
const route = getRouteApi('/session/');

/** The files of the account, one page at a time. Page and search are in the address. */
export function FilesPage() {
  const { page = 1, search = '' } = route.useSearch();
  const { data, error, failureReason, isPlaceholderData, refetch } = useQuery(filesQuery({ page, search }));
  const items = data?.items ?? [];
  const selection = useSelection(items, `${page} ${search}`);
  const [shown, setShown] = useState<FileRecord>();
  const [removing, setRemoving] = useState<readonly FileRecord[]>();
  usePageTitle(
    search !== '' ? words.titleOfSearch(search) : page > 1 ? words.titleOfPage(formatNumber(page)) : words.title,
  );
  const before = useRef(page);
  useEffect(() => {
    // The link that had the focus may no longer exist.
    if (before.current !== page) keepFocus();
    before.current = page;
  }, [page]);

  const pages = Math.max(1, Math.ceil((data?.total ?? 0) / PAGE_SIZE));
  // While a list loads, `data` may be that of a search, which does not say whether the account has files.
  const isNew = data !== undefined && !isPlaceholderData && data.total === 0 && search === '';
  return (
    <>
      <div className={styles.head}>
        <Title order={1}>{words.title}</Title>
        <StorageMeter />
        <ChooseFiles />
      </div>
      {!isNew && (
        <div className={`${styles.tools} ${selection.chosen.length > 0 ? styles.chosen : ''}`}>
          {selection.chosen.length > 0 ? (
            <SelectionBar selection={selection} onRemove={() => setRemoving(selection.chosen)} />
          ) : (
            <>
              <SearchField />
              <Text size="sm" c="dimmed" role="status" className={styles.total}>
                {data && words.found(formatNumber(data.total), data.total === 1)}
              </Text>
            </>
          )}
        </div>
      )}
      {error && (
        <LoadFailure
          words={messageFor(error)}
          error={error}
          isStale={data !== undefined}
          onAction={() => void refetch()}
        />
      )}
      {isNew && <EmptyState />}
      {!isNew && (!error || data) && (
        <>
          <FileTable
            files={data?.items}
            isStale={isPlaceholderData}
            selection={selection}
            onShow={setShown}
            onRemove={(file) => setRemoving([file])}
          />
          {data?.total === 0 && !isPlaceholderData && (
            <Text c="dimmed" className={styles.nothing}>
              <Naming words={words.nothingFound} name={search} />
            </Text>
          )}
          {data && <Pages page={page} count={pages} />}
          {/* The page no longer exists: its last file was deleted, or the address is old. */}
          {data && !isPlaceholderData && page > pages && <Navigate from="/" to="/" search={toPage(pages)} replace />}
        </>
      )}
      {(!data || isPlaceholderData) && !error && <Loading reason={failureReason} />}
      <FileDetails
        file={shown}
        onClose={() => setShown(undefined)}
        onRemove={(file) => {
          setShown(undefined);
          setRemoving([file]);
        }}
      />
      <DeleteFiles files={removing} onClose={() => setRemoving(undefined)} />
    </>
  );
}
