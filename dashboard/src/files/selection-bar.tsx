import { ActionIcon, Button, Group, Text, Tooltip } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconLink from '@tabler/icons-react/dist/esm/icons/IconLink.mjs';
import IconTrash from '@tabler/icons-react/dist/esm/icons/IconTrash.mjs';
import IconX from '@tabler/icons-react/dist/esm/icons/IconX.mjs';
import { formatNumber } from '../format.ts';
import { strings } from '../strings.ts';
import { keepFocus } from '../ui/keep-focus.ts';
import { useCopy } from '../ui/use-copy.ts';
import styles from './selection-bar.module.css';
import type { Selection } from './use-selection.ts';

/**
 * The actions for the selected files. The bar replaces the search field. It is one line high even on a phone, so that no row moves while
 * the user selects.
 */
export function SelectionBar({ selection, onRemove }: { selection: Selection; onRemove: () => void }) {
  const { isCopied, copy } = useCopy(selection.chosen.map(({ url }) => url).join('\n'));
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
      <Text size="sm" fw={600} className={styles.count}>
        {strings.remove.selected(formatNumber(selection.chosen.length))}
      </Text>
      <Button size="compact-sm" variant="default" aria-label={strings.files.copyLinks} onClick={copy}>
        {isCopied ? <IconCheck size={16} aria-hidden /> : <IconLink size={16} aria-hidden />}
        <span className={styles.label}>{strings.files.copyLinks}</span>
      </Button>
      <Button color="red" size="compact-sm" aria-label={strings.remove.removeSelected} onClick={onRemove}>
        <IconTrash size={16} aria-hidden />
        <span className={styles.label}>{strings.remove.removeSelected}</span>
      </Button>
      <Tooltip label={strings.remove.unselect}>
        <ActionIcon aria-label={strings.remove.unselect} onClick={unselect}>
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
