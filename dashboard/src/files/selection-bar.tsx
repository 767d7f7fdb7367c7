import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { keepFocus } from '../ui/keep-focus.ts';
import type { Selection } from './use-selection.ts';

/**
 * The actions for the selected files. The bar replaces the search field. It is one line high even on a phone, so that no row moves while
 * the user selects.
 */
export function SelectionBar({ selection, onRemove }: { selection: Selection; onRemove: () => void }) {
  const unselect = () => {
    selection.clear();
    keepFocus();
  };
  return (
    <Group
      gap="xs"
      wrap="nowrap"
      role="toolbar"
      aria-label={strings.remove.selected(formatNumber(selection.chosen.length))}
    >
      <Text size="sm" fw={600}>
        {strings.remove.selected(formatNumber(selection.chosen.length))}
      </Text>
      <Button color="red" size="compact-sm" leftSection={<IconTrash size={16} aria-hidden />} onClick={onRemove}>
        {strings.remove.removeSelected}
      </Button>
      <Tooltip label={strings.remove.unselect}>
        <ActionIcon aria-label={strings.remove.unselect} onClick={unselect}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
