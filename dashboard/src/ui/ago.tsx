import { Tooltip, UnstyledButton } from '@mantine/core';
import { formatAgo, formatTime } from '../format.ts';
import styles from './ago.module.css';

/** How long ago a time was, with the time itself as a tooltip. */
export function Ago({ at }: { at: string }) {
  return (
    // The tooltip opens by touch and by keyboard focus, too.
    <Tooltip label={formatTime(at)} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton className={styles.ago}>
        <time dateTime={at}>{formatAgo(at)}</time>
      </UnstyledButton>
    </Tooltip>
  );
}
