import { Alert, Button, Paper, Stack, Text, Title } from '@mantine/core';
import IconAlertCircle from '@tabler/icons-react/dist/esm/icons/IconAlertCircle.mjs';
import IconBrandGoogleFilled from '@tabler/icons-react/dist/esm/icons/IconBrandGoogleFilled.mjs';
import { getRouteApi } from '@tanstack/react-router';
import { API } from '../api/request.ts';
import { ThemeSwitch } from '../shell/theme-switch.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';
import { strings } from '../strings.ts';
import styles from './login-page.module.css';
import { rememberReturnTo } from './return-to.ts';

const words = strings.login;
const route = getRouteApi('/login');

export function LoginPage() {
  const { error, return: back } = route.useSearch();
  usePageTitle(words.title);
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
          {error === undefined && back !== undefined && <Text c="dimmed">{words.again}</Text>}
          <Button
            component="a"
            href={`${API}/auth/google`}
            size="md"
            leftSection={<IconBrandGoogleFilled size={18} aria-hidden />}
            onClick={() => back !== undefined && rememberReturnTo(back)}
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
