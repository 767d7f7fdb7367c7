import { Button, Group, Text } from '@mantine/core';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import { formatNumber } from '../format.ts';
import { keepFocus } from '../shell/keep-focus.ts';
import { strings } from '../strings.ts';
import type { Selection } from './use-selection.ts';

/** What can be done with all that is selected; it stands where the search does otherwise. */
export function SelectionBar({ selection, onRemove }: { selection: Selection; onRemove: () => void }) {
  const unselect = () => {
    selection.clear();
    keepFocus();
  };
  return (
    <Group gap="xs" role="toolbar" aria-label={strings.remove.selected(formatNumber(selection.chosen.length))}>
      <Text fw={600}>{strings.remove.selected(formatNumber(selection.chosen.length))}</Text>
      <Button color="red" size="compact-md" leftSection={<IconTrash size={16} aria-hidden />} onClick={onRemove}>
        {strings.remove.removeSelected}
      </Button>
      <Button variant="default" size="compact-md" onClick={unselect}>
        {strings.remove.unselect}
      </Button>
    </Group>
  );
}
