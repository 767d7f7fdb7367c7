import { Alert, Button, Paper, Stack, Text, Title } from '@mantine/core';
import IconAlertCircle from '@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs';
import IconBrandGoogleFilled from '@tabler/icons-react/dist/esm/icons/IconBrandGoogleFilled.mjs';
import IconCloudUpload from '@tabler/icons-react/dist/esm/icons/IconCloudUpload.mjs';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { API, hosting } from '../api/client.ts';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { Naming } from '../ui/naming.tsx';
import { ThemeSwitch } from '../ui/theme-switch.tsx';
import { usePageTitle } from '../ui/use-page-title.ts';
import { isUnfinished } from '../uploads/upload-queue.ts';
import { useUploadQueue, useUploads } from '../uploads/use-uploads.ts';
import styles from './login-page.module.css';
import { rememberReturnTo } from './return-to.ts';
import { onSessionChange } from './session-channel.ts';

const words = strings.login;
const route = getRouteApi('/login');

/** True when the account was refused. If this browser has a session, it is that of another account. */
const isOfAnotherPerson = (error?: string) => error === 'not_allowed' || error === 'email_not_verified';

/** True when the person may want another account. By default Google takes the same account again, without a question. */
const isRefusal = (error?: string) => isOfAnotherPerson(error) || error === 'access_denied';

export function LoginPage() {
  const { error, return: back } = route.useSearch();
  const router = useRouter();
  const queue = useUploadQueue();
  const waiting = useUploads().filter(({ state }) => isUnfinished(state)).length;
  /** Whose uploads wait, while another account is logged in. */
  const [owner, setOwner] = useState<string>();
  usePageTitle(words.title);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const goOn = (accountId: string) => {
      const other = queue.waitingOf(accountId);
      setOwner(other?.email);
      if (!other) void router.navigate({ href: back ?? '/', replace: true });
    };
    const endListening = onSessionChange((accountId) => accountId !== null && goOn(accountId));
    const ask = () =>
      hosting.me({ signal }).then(
        ({ id }) => goOn(id),
        () => {
          // There is no session, or no connection. The person can log in.
        },
      );
    if (!isOfAnotherPerson(error)) void ask();
    // The back button may show this page as it was before the login.
    window.addEventListener('pageshow', ({ persisted }) => persisted && void ask(), { signal });
    return () => {
      endListening();
      controller.abort();
    };
  }, [router, queue, back, error]);
  const discard = () => {
    void queue.cancelAll();
    void router.navigate({ href: back ?? '/', replace: true });
  };
  return (
    <main className={styles.page}>
      <div className={styles.corner}>
        <ThemeSwitch />
      </div>
      <Paper className={styles.card} withBorder shadow="sm">
        <Stack gap="lg">
          <div>
            <img src="/dashboard/icon.svg" alt="" width={48} height={48} />
            <Title order={1} mt="sm">
              {strings.product}
            </Title>
          </div>
          <Text>{words.lead}</Text>
          {error !== undefined && (
            <Alert color="red" variant="outline" icon={<IconAlertCircle />} role="alert">
              {Object.hasOwn(words.errors, error)
                ? words.errors[error as keyof typeof words.errors]
                : words.errors.login_failed}
            </Alert>
          )}
          {error === undefined && back !== undefined && waiting === 0 && <Text c="dimmed">{words.again}</Text>}
          {waiting > 0 && (
            <Alert color="orange" variant="outline" icon={<IconCloudUpload />} role="status">
              <Text>{words.uploadsWait(formatNumber(waiting), waiting === 1)}</Text>
              {owner !== undefined && (
                <>
                  <Text mt="xs">
                    <Naming words={words.uploadsOf} name={owner} />
                  </Text>
                  <Button mt="xs" variant="default" onClick={discard}>
                    {words.discard}
                  </Button>
                </>
              )}
            </Alert>
          )}
          <Button
            component="a"
            href={`${API}/auth/google${isRefusal(error) || owner !== undefined ? '?prompt=select_account' : ''}`}
            size="md"
            px="sm"
            leftSection={<IconBrandGoogleFilled size={18} aria-hidden />}
            // The waiting files are in the memory of this tab, so the login opens in another one.
            target={waiting > 0 ? '_blank' : undefined}
            onClick={() => back !== undefined && waiting === 0 && rememberReturnTo(back)}
          >
            {words.google}
          </Button>
          <Text size="sm" c="dimmed">
            {words.cookie}
          </Text>
        </Stack>
      </Paper>
    </main>
  );
}
