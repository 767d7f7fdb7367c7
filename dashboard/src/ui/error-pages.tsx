import { Alert, Button, Group, Stack, Title, VisuallyHidden } from '@mantine/core';
import IconAlertCircle from '@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs';
import { Link } from '@tanstack/react-router';
import { FileHostingError } from '../../../clients/typescript/src/index.ts';
import { strings } from '../strings.ts';
import styles from './error-pages.module.css';
import { RequestId } from './failed-request.tsx';
import { messageFor } from './notify.ts';

/** The page that replaces one that cannot be displayed at all. */
export function CrashPage({ error }: { error: unknown }) {
  return (
    <main className={styles.page}>
      <VisuallyHidden>
        <h1>{strings.product}</h1>
      </VisuallyHidden>
      <LoadFailure
        error={error}
        words={error instanceof FileHostingError ? messageFor(error) : strings.crashed}
        action={strings.reload}
        onAction={() => window.location.reload()}
      />
    </main>
  );
}

/** The content of a page that cannot be displayed. The frame with the uploads stays. */
export function CrashedContent({ reset }: { reset: () => void }) {
  return <LoadFailure words={strings.contentCrashed} onAction={reset} />;
}

export function NotFoundPage() {
  return (
    <main className={styles.page}>
      <Stack align="center">
        <Title order={1}>{strings.notFound}</Title>
        <Button component={Link} to="/">
          {strings.toFiles}
        </Button>
      </Stack>
    </main>
  );
}

/**
 * The error message that replaces data that could not be loaded.
 * @param isStale  true when older data, which could not be refreshed, is shown below the message; the message then says so.
 */
export function LoadFailure({
  words,
  error,
  isStale = false,
  action = strings.retry,
  onAction,
}: {
  words: string;
  /** The error of the request, if a request failed. */
  error?: unknown;
  isStale?: boolean;
  action?: string;
  onAction: () => void;
}) {
  return (
    <Alert color="red" variant="outline" icon={<IconAlertCircle />} role="alert" title={words} mb="md">
      {isStale && strings.stale}
      <RequestId error={error} />
      <Group mt="xs">
        <Button variant="default" onClick={onAction}>
          {action}
        </Button>
      </Group>
    </Alert>
  );
}
