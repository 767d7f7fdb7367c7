import { Avatar, Button, Group, Menu, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import IconDevices from '@tabler/icons-react/dist/esm/icons/IconDevices.mjs';
import IconDevicesOff from '@tabler/icons-react/dist/esm/icons/IconDevicesOff.mjs';
import IconLogout from '@tabler/icons-react/dist/esm/icons/IconLogout.mjs';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { profileQuery } from '../api/queries.ts';
import { type Logout, useLogout } from '../login/use-logout.ts';
import { strings } from '../strings.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useLast } from '../ui/use-last.ts';
import { useUploadQueue } from '../uploads/use-uploads.ts';
import styles from './shell.module.css';

const words = strings.navigation;

/** The menu that shows who is logged in, and lets them log out. */
export function AccountMenu() {
  const { data: profile } = useSuspenseQuery(profileQuery);
  const uploads = useUploadQueue();
  const [asking, setAsking] = useState<Logout>();
  const logOut = useLogout();
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <UnstyledButton className={styles.account}>
          <VisuallyHidden>{words.account(profile.email)}</VisuallyHidden>
          {/* The menu shows initials instead of Google's picture, so that no other host gets a request. */}
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
        <div className={styles.person} role="presentation" translate="no">
          <Text fw={600} className="one-line">
            {profile.name}
          </Text>
          <Text size="sm" c="dimmed" className="one-line">
            {profile.email}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/sessions" leftSection={<IconDevices size={16} aria-hidden />}>
          {words.sessions}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => (uploads.isBusy ? setAsking('here') : logOut.mutate('here'))}
        >
          {words.logOut}
        </Menu.Item>
        <Menu.Item leftSection={<IconDevicesOff size={16} aria-hidden />} onClick={() => setAsking('everywhere')}>
          {words.everywhere.item}
        </Menu.Item>
      </Menu.Dropdown>
      <LogoutQuestion asking={asking} logOut={logOut} onClose={() => setAsking(undefined)} />
    </Menu>
  );
}

/** Asks for confirmation of a logout. @param asking  which logout; undefined when the dialog is closed. */
function LogoutQuestion({
  asking,
  logOut,
  onClose,
}: {
  asking: Logout | undefined;
  logOut: ReturnType<typeof useLogout>;
  onClose: () => void;
}) {
  const uploads = useUploadQueue();
  const shown = useLast(asking) ?? 'here';
  const { title, confirm } = shown === 'everywhere' ? words.everywhere : words.loggingOut;
  return (
    <Dialog opened={asking !== undefined} onClose={onClose} title={title}>
      <Stack gap="xs">
        {shown === 'everywhere' && <Text>{words.everywhere.warning}</Text>}
        {(shown === 'here' || uploads.isBusy) && <Text>{words.loggingOut.warning}</Text>}
      </Stack>
      <Group justify="end" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>
          {strings.cancel}
        </Button>
        <Button color="red" loading={logOut.isPending} onClick={() => logOut.mutate(shown)}>
          {confirm}
        </Button>
      </Group>
    </Dialog>
  );
}
