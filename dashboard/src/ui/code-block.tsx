import { ActionIcon, Tooltip } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconCopy from '@tabler/icons-react/dist/esm/icons/IconCopy.mjs';
import { strings } from '../strings.ts';
import styles from './code-block.module.css';
import { useCopy } from './use-copy.ts';

/** Text to copy, such as a shell command. */
export function CodeBlock({ code }: { code: string }) {
  const { isCopied, copy } = useCopy(code);
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard (axe: scrollable-region-focusable). */}
      <pre className={styles.code} tabIndex={0} translate="no">
        <code>{code}</code>
      </pre>
      <Tooltip label={isCopied ? strings.copied : strings.copy}>
        <ActionIcon className={styles.copy} aria-label={strings.copy} onClick={copy}>
          {isCopied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
