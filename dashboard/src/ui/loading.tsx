import { Loader, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { profileQuery } from '../api/queries.ts';
import { strings } from '../strings.ts';
import styles from './error-pages.module.css';
import { wordsFor } from './notify.ts';

/**
 * Says that something is still to come: only aloud, since a skeleton shows it.
 * @param reason  why the last attempt failed, if one did: then it says that, for all to see. It may go on for a minute.
 */
export function Loading({ reason }: { reason: Error | null }) {
  if (!reason) return <VisuallyHidden role="status">{strings.loading}</VisuallyHidden>;
  return (
    <Text c="dimmed" role="status" ta="center" mt="md">
      {wordsFor(reason)}
    </Text>
  );
}

/** In place of all pages, until it is known who is logged in. */
export function LoadingPage() {
  const { failureReason } = useQuery({ ...profileQuery, enabled: false });
  return (
    <main className={styles.page}>
      <div>
        <Loader display="block" mx="auto" aria-hidden />
        <Loading reason={failureReason} />
      </div>
    </main>
  );
}
