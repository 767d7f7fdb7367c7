import { Loader, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { profileQuery } from '../api/queries.ts';
import { strings } from '../strings.ts';
import styles from './error-pages.module.css';
import { messageFor } from './notify.ts';

/**
 * Tells screen readers that something is loading; sighted users see a skeleton.
 * @param reason  why the last attempt failed, if one failed. It is shown while the next attempts run, because they may take a minute.
 */
export function Loading({ reason }: { reason: Error | null }) {
  if (!reason) return <VisuallyHidden role="status">{strings.loading}</VisuallyHidden>;
  return (
    <Text c="dimmed" role="status" ta="center" mt="md">
      {messageFor(reason)}
    </Text>
  );
}

/** The page that is shown until it is known who is logged in. */
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
