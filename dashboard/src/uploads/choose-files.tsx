import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import IconChevronDown from '@tabler/icons-react/dist/esm/icons/IconChevronDown.mjs';
import IconFolderUp from '@tabler/icons-react/dist/esm/icons/IconFolderUp.mjs';
import IconUpload from '@tabler/icons-react/dist/esm/icons/IconUpload.mjs';
import { useRef } from 'react';
import { strings } from '../strings.ts';
import { chosenFiles } from './found-files.ts';
import { useTakeFiles } from './use-take-files.tsx';

const words = strings.files;

/** The button to choose files, with a menu to choose a folder. */
export function ChooseFiles() {
  const takeFiles = useTakeFiles();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const take = ({ currentTarget }: React.ChangeEvent<HTMLInputElement>) => {
    takeFiles(chosenFiles([...(currentTarget.files ?? [])]));
    // Without this, choosing the same file again would fire no event.
    currentTarget.value = '';
  };
  return (
    <>
      <input ref={files} type="file" multiple hidden onChange={take} data-testid="files" />
      <input ref={folder} type="file" webkitdirectory="" hidden onChange={take} data-testid="folder" />
      <Group gap={2} wrap="nowrap">
        <Button leftSection={<IconUpload size={18} aria-hidden />} onClick={() => files.current?.click()}>
          {words.upload}
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="filled" color="indigo" size={36} aria-label={words.moreWays}>
              <IconChevronDown size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconFolderUp size={16} aria-hidden />} onClick={() => folder.current?.click()}>
              {words.uploadFolder}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </>
  );
}
