import { Avatar, Button, Group, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import IconFiles from '@tabler/icons-react/dist/esm/icons/IconFiles.mjs';
import IconFileText from '@tabler/icons-react/dist/esm/icons/IconFileText.mjs';
import IconKey from '@tabler/icons-react/dist/esm/icons/IconKey.mjs';
import IconLogout from '@tabler/icons-react/dist/esm/icons/IconLogout.mjs';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { profileQuery } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { tellOfSession } from '../login/session-news.ts';
import { strings } from '../strings.ts';
import { DropZone } from '../uploads/drop-zone.tsx';
import { UploadPanel } from '../uploads/upload-panel.tsx';
import { useUploadQueue } from '../uploads/use-uploads.ts';
import { Dialog } from './dialog.tsx';
import { notifyFailure } from './notify.ts';
import styles from './shell.module.css';
import { ThemeSwitch } from './theme-switch.tsx';

const words = strings.navigation;

const PAGES = [
  ['/', IconFiles, words.files],
  ['/api-keys', IconKey, words.apiKeys],
  ['/docs', IconFileText, words.reference],
] as const;

/** What every page of a session has around it. */
export function Shell() {
  return (
    <>
      <a href="#content" className={styles.skip}>
        {words.skip}
      </a>
      <header className={styles.header}>
        <div className={styles.bar}>
          <Link to="/" className={styles.brand}>
            <img src="/dashboard/icon.svg" alt="" width={28} height={28} />
            <span>{strings.product}</span>
          </Link>
          <nav className={styles.pages} aria-label={words.label}>
            {PAGES.map(([to, Icon, label]) => (
              <Link key={to} to={to} className={styles.page} activeOptions={{ exact: true, includeSearch: false }}>
                <Icon size={18} aria-hidden />
                <span>{label}</span>
              </Link>
            ))}
          </nav>
          <div className={styles.tools}>
            <ThemeSwitch />
            <AccountMenu />
          </div>
        </div>
      </header>
      <main id="content" className={styles.content} tabIndex={-1}>
        <Outlet />
      </main>
      <UploadPanel />
      <DropZone />
    </>
  );
}

function AccountMenu() {
  const { data: profile } = useSuspenseQuery(profileQuery);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const uploads = useUploadQueue();
  const [isAsking, setIsAsking] = useState(false);
  const logOut = useMutation({
    mutationFn: async () => {
      // While there is a session that may: room that is held counts as used until the tickets end.
      await uploads.cancelAll();
      return request('POST', '/auth/logout');
    },
    onSuccess: async () => {
      await navigate({ to: '/login' });
      tellOfSession(null);
      queryClient.clear();
    },
    onError: notifyFailure,
  });
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton className={styles.account}>
          <VisuallyHidden>{words.account(profile.email)}</VisuallyHidden>
          {/* Initials, not Google's picture: no other host is told who is here. */}
          <Avatar
            name={profile.name || profile.email}
            color="indigo"
            variant="filled"
            radius="xl"
            size={34}
            aria-hidden
          />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.person} role="presentation">
          <Text fw={600} className="one-line">
            {profile.name}
          </Text>
          <Text size="sm" c="dimmed" className="one-line">
            {profile.email}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => (uploads.isBusy ? setIsAsking(true) : logOut.mutate())}
        >
          {words.logOut}
        </Menu.Item>
      </Menu.Dropdown>
      <Dialog opened={isAsking} onClose={() => setIsAsking(false)} title={words.loggingOut.title}>
        <Text>{words.loggingOut.warning}</Text>
        <Group justify="end" mt="lg">
          <Button variant="default" onClick={() => setIsAsking(false)} data-autofocus>
            {strings.cancel}
          </Button>
          <Button color="red" loading={logOut.isPending} onClick={() => logOut.mutate()}>
            {words.loggingOut.confirm}
          </Button>
        </Group>
      </Dialog>
    </Menu>
  );
}
