import { ActionIcon, Tooltip } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconLink from '@tabler/icons-react/dist/esm/icons/IconLink.mjs';
import type { FileRecord } from '../../../clients/typescript/src/index.ts';
import { strings } from '../strings.ts';
import { useCopy } from './use-copy.ts';

/** Copies a file's direct link. */
export function CopyLink({ file: { name, url } }: { file: FileRecord }) {
  const { isCopied, copy } = useCopy(url);
  return (
    <Tooltip label={isCopied ? strings.copied : strings.copy}>
      <ActionIcon aria-label={strings.files.copyLink(name)} onClick={copy}>
        {isCopied ? (
          <IconCheck size={18} color="var(--mantine-color-green-text)" aria-hidden />
        ) : (
          <IconLink size={18} aria-hidden />
        )}
      </ActionIcon>
    </Tooltip>
  );
}
